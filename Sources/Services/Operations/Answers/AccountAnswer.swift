package import AccountStore
import Accounts
import AppStorePayloads
import Base
import Subscriptions

/// What an account is at an instant, and why, as people and scripts see it.
package struct AccountAnswer: Encodable, Sendable {
    private struct Line: Encodable, Sendable {
        var originalTransactionId: String
        var bundleId: String
        var productId: String?
        /// `not_bought` before it began.
        var status: String
        var accessUntil: String?
        var owner: String?
        var isOwned: Bool
        var bindings: [Binding]
    }

    private struct Binding: Encodable, Sendable {
        var at: String
        var kind: String
        var account: String
    }

    private struct Act: Encodable, Sendable {
        var id: Int64
        var at: String
        var kind: String
        var tier: String?
        var days: Int64?
        var by: String
        var why: String
    }

    private struct Trial: Encodable, Sendable {
        var tier: String
        var startedAt: String
        var endsAt: String
    }

    private let account: String
    private let appAccountToken: String
    private let environment: String
    private let at: String
    private let tier: String
    private let status: String
    private let access: Bool
    private let source: String
    private let productId: String?
    private let originalTransactionId: String?
    private let act: Int64?
    private let expiresAt: String?
    private let accessUntil: String?
    private let willRenew: Bool
    private let since: String?
    private let until: String?
    private let version: Int64
    private let catalog: Int64
    private let erasedAt: String?
    private let purchases: [Line]
    private let acts: [Act]
    private let trial: Trial?

    /// An answer about an account as somebody named it.
    package init(_ account: String, _ told: AccountExplanation) {
        let value = told.value
        self.account = told.account ?? account
        appAccountToken = "\(told.token)"
        environment = told.environment
        at = "\(told.at)"
        tier = value.tier
        status = value.status.rawValue
        access = value.access
        source = value.source.rawValue
        productId = value.productID
        originalTransactionId = value.purchase?.originalTransactionID
        act = value.act
        expiresAt = value.expiresAt.map { "\($0)" }
        accessUntil = told.state.accessUntil(at: told.at).map { "\($0)" }
        willRenew = value.willRenew
        since = value.startsAt == .distantPast ? nil : "\(value.startsAt)"
        until = told.state.end(ofPhaseAt: told.at).map { "\($0)" }
        version = told.version
        catalog = told.catalogVersion
        erasedAt = told.erasedAt.map { "\($0)" }
        purchases = told.lines.map { line in
            Line(
                originalTransactionId: line.key.originalTransactionID, bundleId: line.key.bundleID,
                productId: line.phase?.productID, status: line.phase?.status.rawValue ?? "not_bought",
                accessUntil: line.phase?.accessUntil.map { "\($0)" }, owner: line.owner.map { "\($0)" },
                isOwned: line.owner == told.token,
                bindings: line.bindings.map {
                    Binding(at: "\($0.at)", kind: $0.kind.rawValue, account: "\($0.account)")
                })
        }
        acts = told.acts.map { recorded in
            Act(
                id: recorded.act.id, at: "\(recorded.act.at)", kind: recorded.act.kind.name,
                tier: recorded.act.kind.tier, days: recorded.act.kind.days, by: recorded.person, why: recorded.why)
        }
        trial = told.trial.map { Trial(tier: $0.tier, startedAt: "\($0.startedAt)", endsAt: "\($0.endsAt)") }
    }

    /// For people: what it is, what says so, and all that was recorded.
    package var text: String {
        var head = [
            "account \(account), appAccountToken \(appAccountToken), \(environment), at \(at)",
            "\(status), tier \(tier)" + (source == "none" ? "" : ", by \(because)"),
        ]
        if access { head.append("access until \(accessUntil ?? "for good")\(willRenew ? ", to be renewed" : "")") }
        if let since { head.append("since \(since)\(until.map { ", until \($0)" } ?? "")") }
        if let erasedAt { head.append("erased at \(erasedAt): what was before is forgotten") }
        var parts = [head.joined(separator: "\n")]
        if !purchases.isEmpty {
            var table = Table(["PURCHASE", "PRODUCT", "STATUS", "ACCESS UNTIL", "WHOSE"])
            for line in purchases {
                table.add([
                    line.originalTransactionId, line.productId ?? "-", line.status, line.accessUntil ?? "-",
                    line.isOwned ? "this account's" : line.owner ?? "nobody's",
                ])
                for binding in line.bindings {
                    table.add(["", "", binding.kind, binding.at, binding.account])
                }
            }
            parts.append(table.text)
        }
        if let trial { parts.append("trial of \(trial.tier) from \(trial.startedAt) to \(trial.endsAt)") }
        if !acts.isEmpty {
            var table = Table(["AT", "ACT", "WHAT", "BY", "WHY"])
            for act in acts {
                let what = [act.tier, act.days.map { "\($0) days" }].compactMap(\.self).joined(separator: ", ")
                table.add([act.at, "\(act.kind) #\(act.id)", what.isEmpty ? "-" : what, act.by, act.why])
            }
            parts.append(table.text)
        }
        return parts.joined(separator: "\n\n")
    }

    private var because: String {
        var words = originalTransactionId.map { "purchase \($0)\(productId.map { " of \($0)" } ?? "")" } ?? source
        if let act { words += " and act #\(act)" }
        return words
    }
}
