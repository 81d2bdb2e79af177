import Foundation

/// What the manager asks a server.
protocol StatusServer: Sendable {
    /// Which account the app's token is of, and the token to buy with.
    func account() async throws -> (id: String, appAccountToken: UUID?)
    /// What the account has.
    func status() async throws -> Answered<KnownStatus.Answer>
    /// Hands in a transaction.
    func verify(_ transaction: StoreTransaction) async throws -> Answered<AcceptedTransaction>
    /// Hands in all that the store holds.
    func restore(_ transactions: [StoreTransaction]) async throws -> Answered<RestoredTransactions>
    /// What is for sale, and what it gives.
    func catalog() async throws -> Catalog
    /// Reports how an attempt to buy or to restore ended.
    func report(_ attempt: PurchaseAttempt) async throws
}

/// What the server answers to a transaction that it accepts.
struct AcceptedTransaction: Sendable, Equatable {
    var accountID: String
    var hasAccess: Bool
    var tier: String
    var status: String
    var displayStatus: String?
    var expiresAt: Date?
    var version: Int64
    /// The purchase; nil of what is shown as none, such as a consumable.
    var purchase: KnownStatus.Purchase?
    var willRenew: Bool?
    var purchaseType = "none"
    var period: String?
}

/// What the server answers to what the store holds.
struct RestoredTransactions: Sendable, Equatable {
    /// What became of a transaction.
    enum Fate: Sendable, Equatable { case own, refused, rejected(ClientError), later }

    var accountID: String
    /// In the order in which they were handed in.
    var fates: [Fate]
    var answer: KnownStatus.Answer
}

/// Why a server gave no answer that counts.
enum ServerFault: Error, Equatable {
    /// It refuses the transaction for this account: 403, 409, with what that means for the customer.
    case refused(ClientError)
    /// What was handed in proves nothing, or is of no product that it knows: 400, 422.
    case rejected(ClientError)
    /// It did not answer, or cannot now: to be asked again.
    case away
    /// It answered something that cannot be read.
    case unreadable
}
