extension FaultsJudge {
    /// The last event of each subject must match storehook's current answer.
    mutating func judgeFolding() {
        var subscriptions: [String: ToldEvent] = [:]
        var purchases: [String: ToldEvent] = [:]
        var accounts: [String: ToldEvent] = [:]
        for event in told {
            if event.kind.hasPrefix("subscription."), let id = event.purchaseID { subscriptions[id] = event }
            if event.kind.hasPrefix("purchase."), let id = event.purchaseID { purchases[id] = event }
            if event.kind.hasPrefix("account."), let account = event.account { accounts[account] = event }
        }
        let converted = Set(told.filter { $0.kind == "subscription.converted" }.compactMap(\.purchaseID))
        let statuses = truth.subscriptions.map { id, state in (id, converted.contains(id) ? state.afterTrial : state) }
        check(
            "subscriptions_differ", "subscriptions whose last event says something else than their status",
            Self.differences(
                Dictionary(statuses, uniquingKeysWith: { first, _ in first }).mapValues(\.ofSubscription),
                subscriptions.compactMapValues { $0.subscription?.ofSubscription }))
        check(
            "purchases_differ", "one-time purchases whose last event says something else than is known",
            Self.differences(
                truth.purchases.mapValues(\.ofPurchase), purchases.compactMapValues { $0.purchase?.ofPurchase }))
        // An account without any event is free.
        let free = ToldEvent.State.free.ofAccount
        let said = accounts.compactMapValues { $0.access?.ofAccount }
        check(
            "accounts_differ", "accounts whose last event says something else than their status",
            Self.differences(
                truth.accounts.mapValues(\.ofAccount),
                said.merging(truth.accounts.keys.map { ($0, free) }) { said, _ in said }))
        var offenders: [String] = []
        for (name, account) in truth.accounts where account.source == "apple" && account.access == true {
            let event = account.originalTransactionId.flatMap { subscriptions[$0] }
            guard event?.account != name || event?.subscription?.accessUntil != account.expiresAt else { continue }
            offenders.append(
                "\(name) has access until \(account.expiresAt ?? "for ever"), reported \(event?.words ?? "nothing")")
        }
        check("ends_differ", "accounts whose access ends at another instant than their events say", offenders.sorted())
    }

    private static func differences(_ truth: [String: [String]], _ told: [String: [String]]) -> [String] {
        Set(truth.keys).union(told.keys).sorted().filter { truth[$0] != told[$0] }.map { name in
            func words(_ state: [String]?) -> String { state?.joined(separator: " ") ?? "nothing" }
            return "\(name) is \(words(truth[name])), reported \(words(told[name]))"
        }
    }
}
