package import Accounts
import Base
import Subscriptions

extension AccountView {
    /// For people: what it is, what says so, and all that was recorded.
    package var text: String {
        let current = current
        var head = [
            "account \(account ?? "\(token)"), appAccountToken \(token), \(environment), at \(instant)",
            "\(current.status.rawValue), tier \(current.tier)" + (current.source == .none ? "" : ", by \(because)"),
        ]
        if let knownAt { head.append("by what had been applied by \(knownAt)") }
        if current.access {
            let end = accessUntil.map { "\($0)" } ?? "for good"
            head.append("access until \(end)\(current.willRenew ? ", to be renewed" : "")")
            if current.tierUntil != accessUntil, let end = current.tierUntil {
                head.append("tier \(current.tier) until \(end)")
            }
        }
        if current.startsAt != .distantPast {
            let end = state.end(ofPhaseAt: instant).map { ", until \($0)" } ?? ""
            head.append("since \(current.startsAt)\(end)")
        }
        for purchase in unsoldPurchases {
            head.append(
                "nothing is given for purchase \(purchase.key.originalTransactionID): the catalog lacks \(purchase.productID ?? "-") of "
                    + "\(purchase.key.bundleID); add it to the catalog's file, then storehook catalog apply")
        }
        if let erasedAt { head.append("erased at \(erasedAt): what was before is forgotten") }
        var parts = [head.joined(separator: "\n")]
        if !purchases.isEmpty {
            var table = Table(["PURCHASE", "PRODUCT", "STATUS", "ACCESS UNTIL", "WHOSE", "GIVES"])
            for purchase in purchases {
                table.add([
                    purchase.key.originalTransactionID, purchase.productID ?? "-",
                    purchase.status?.rawValue ?? "not_bought", purchase.accessUntil.map { "\($0)" } ?? "-",
                    purchase.owner == token ? "this account's" : purchase.owner.map { "\($0)" } ?? "nobody's",
                    worth(of: purchase).text,
                ])
                for binding in purchase.bindings {
                    table.add(["", "", binding.kind.rawValue, "\(binding.at)", "\(binding.account)", ""])
                }
            }
            parts.append(table.text)
        }
        if let trial { parts.append("trial of \(trial.tier) from \(trial.startedAt) to \(trial.endsAt)") }
        if !acts.isEmpty { parts.append(AccountShapes.act.table(of: acts)) }
        return parts.joined(separator: "\n\n")
    }

    private var because: String {
        let current = current
        let purchase = current.purchase.map { key in
            "purchase \(key.originalTransactionID)\(current.productID.map { " of \($0)" } ?? "")"
        }
        return (purchase ?? current.source.rawValue) + (current.act.map { " and act #\($0)" } ?? "")
    }
}
