extension SimulatedSubscriber {
    /// Every subscription so far, the first one first.
    public var allLines: [SubscriptionLine.Reference] { lines.indices.map(SubscriptionLine.Reference.init(index:)) }

    /// Everything sold so far: periods line by line, restored copies included, then one-time purchases.
    public var allItems: [SoldItem] {
        allLines.flatMap { line in lines[line.index].transactions.indices.map { SoldItem.period(line, $0) } }
            + purchases.indices.map(SoldItem.single)
    }

    /// Apple's status of a subscription at an instant: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    public func appleStatus(of line: SubscriptionLine.Reference, at instant: Milliseconds) -> Int {
        lines[line.index].status(at: instant)
    }

    /// The end of a subscription's grace period, were its charge to fail now.
    public func graceEnd(of line: SubscriptionLine.Reference) -> Milliseconds {
        lines[line.index].expiresDate + gracePeriod(of: line)
    }

    /// The customer's download of the app, as it would be signed at an instant.
    public func appTransaction(at instant: Milliseconds, firstDownloadAt download: Milliseconds) -> AppTransactionRecord
    {
        AppTransactionRecord(
            receiptType: app.environment.rawValue, appAppleId: app.appAppleId, bundleId: app.bundleId,
            applicationVersion: app.bundleVersion, signedDate: instant, originalPurchaseDate: download.wholeSeconds,
            originalApplicationVersion: "1", appTransactionId: appTransactionId)
    }
}
