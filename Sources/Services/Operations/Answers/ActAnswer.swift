package import Accounts
import Base

extension CommandAnswer {
    /// What an act of staff's came to: before and after.
    package init(_ account: String, _ done: (act: StaffAct, before: AccountPhase, after: AccountPhase)) {
        self.init(
            [
                "account": .string(account), "act": .integer(done.act.id), "kind": .string(done.act.kind.name),
                "at": .time(done.act.at), "before": Self.phase.value(of: done.before),
                "after": Self.phase.value(of: done.after),
            ],
            text: """
                recorded act #\(done.act.id) (\(done.act.kind.name)) for account \(account)
                before: \(Self.text(of: done.before))
                after:  \(Self.text(of: done.after))
                """)
    }

    private static let phase = CommandShape<AccountPhase>([
        .init("tier", \.tier), .init("status", \.status), .init("expires_at", \.expiresAt),
    ])

    private static func text(of phase: AccountPhase) -> String {
        "\(phase.status.rawValue), tier \(phase.tier)\(phase.expiresAt.map { ", \($0)" } ?? "")"
    }
}
