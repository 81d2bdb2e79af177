extension SimulatedSubscriber {
    /// Whether any subscription was ever bought.
    var hasSubscribed: Bool { !lines.isEmpty }

    /// Whether a subscription is the last one bought.
    func isLatestLine(_ line: SubscriptionLine.Reference) -> Bool { line.index == lines.count - 1 }

    /// Keeps a long life small: only the latest two periods can still be refunded.
    ///
    /// References to items of this line are no longer valid afterwards.
    mutating func forgetOldPeriods(of line: SubscriptionLine.Reference) {
        let count = lines[line.index].transactions.count
        if count > 4 { lines[line.index].transactions = Array(lines[line.index].transactions.suffix(2)) }
    }

    /// Keeps a long life small: references to one-time purchases are no longer valid afterwards.
    mutating func forgetOldPurchases() {
        if purchases.count > 2 { purchases = [] }
    }
}
