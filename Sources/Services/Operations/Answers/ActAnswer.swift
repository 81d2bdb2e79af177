import AccountStore
package import Accounts
import AppStorePayloads

/// What an act of staff's came to, as people and scripts see it.
package struct ActAnswer: Encodable, Sendable {
    private struct Standing: Encodable, Sendable {
        var tier: String
        var status: String
        var expiresAt: String?

        init(_ phase: AccountPhase) {
            tier = phase.tier
            status = phase.status.rawValue
            expiresAt = phase.expiresAt.map { "\($0)" }
        }

        var text: String { "\(status), tier \(tier)\(expiresAt.map { ", \($0)" } ?? "")" }
    }

    private let account: String
    private let act: Int64
    private let kind: String
    private let at: String
    private let before: Standing
    private let after: Standing

    /// An answer about what was recorded.
    package init(_ account: String, _ done: (act: StaffAct, before: AccountPhase, after: AccountPhase)) {
        self.account = account
        act = done.act.id
        kind = done.act.kind.name
        at = "\(done.act.at)"
        before = Standing(done.before)
        after = Standing(done.after)
    }

    /// For people: before and after.
    package var text: String {
        "recorded act #\(act) (\(kind)) for account \(account)\nbefore: \(before.text)\nafter:  \(after.text)"
    }
}
