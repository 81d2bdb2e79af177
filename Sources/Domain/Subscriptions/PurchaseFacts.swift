public import AppStorePayloads

/// All that is known of one purchase line: a set of facts, each the latest-signed of its kind.
public struct PurchaseFacts: Sendable, Hashable {
    /// By transactionId.
    public private(set) var transactions: [String: TransactionFact]
    /// The latest-signed renewal info.
    public private(set) var renewal: RenewalFact?
    /// Apple's latest reportedStatus.
    public private(set) var reportedStatus: ReportedStatus?

    /// Facts known so far; none by default.
    public init(
        transactions: some Sequence<TransactionFact> = [], renewal: RenewalFact? = nil,
        reportedStatus: ReportedStatus? = nil
    ) {
        self.transactions = [:]
        self.renewal = renewal
        self.reportedStatus = reportedStatus
        for transaction in transactions { merge(transaction) }
    }

    /// The latest instant at which Apple said anything of what is known; nil where nothing is.
    ///
    /// It never goes back: a record gives way only to one that was signed later.
    public var asOf: Timestamp? {
        var latest = reportedStatus?.signedAt
        func consider(_ signedAt: Timestamp) { latest = max(latest ?? signedAt, signedAt) }
        if let renewal { consider(renewal.signedAt) }
        for fact in transactions.values { consider(fact.signedAt) }
        return latest
    }

    /// Whether this very record is what is known.
    public func holds(_ fact: TransactionFact) -> Bool {
        transactions[fact.transactionID].map(fact.isSameRecord) ?? false
    }

    /// Whether this very record is what is known.
    public func holds(_ fact: RenewalFact) -> Bool { renewal.map(fact.isSameRecord) ?? false }

    /// Takes a record in; answers whether it is news.
    @discardableResult
    public mutating func merge(_ fact: TransactionFact) -> Bool {
        if let known = transactions[fact.transactionID], !fact.supersedes(known) { return false }
        transactions[fact.transactionID] = fact
        return true
    }

    /// Takes a record in; answers whether it is news.
    @discardableResult
    public mutating func merge(_ fact: RenewalFact) -> Bool {
        if let renewal, !fact.supersedes(renewal) { return false }
        renewal = fact
        return true
    }

    /// Takes a reportedStatus in; answers whether it is news.
    @discardableResult
    public mutating func merge(_ new: ReportedStatus) -> Bool {
        if let reportedStatus, !new.supersedes(reportedStatus) { return false }
        reportedStatus = new
        return true
    }
}
