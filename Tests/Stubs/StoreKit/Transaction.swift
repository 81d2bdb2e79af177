public import Foundation

/// What StoreKit declares of a transaction.
public struct Transaction: Identifiable, Hashable, Sendable {
    /// Its identifier.
    public let id: UInt64
    /// That of the first transaction of its purchase.
    public let originalID: UInt64
    /// The product that was bought.
    public let productID: String
    /// When it was bought.
    public let purchaseDate: Date
    /// When it ends.
    public let expirationDate: Date?
    /// When it was refunded or revoked.
    public let revocationDate: Date?
    /// Whether the customer has gone on to a higher level.
    public let isUpgraded: Bool
    /// Whose purchase it is.
    public let appAccountToken: UUID?

    /// A sequence of transactions.
    public struct Transactions: AsyncSequence, Sendable {
        /// One of them.
        public typealias Element = VerificationResult<Transaction>

        /// What hands them out.
        public struct AsyncIterator: AsyncIteratorProtocol {
            /// The next one.
            public mutating func next() async -> VerificationResult<Transaction>? { nil }
        }

        /// What hands them out.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }

    /// What comes by itself.
    public static var updates: Transaction.Transactions { Transactions() }
    /// What the customer may use now.
    public static var currentEntitlements: Transaction.Transactions { Transactions() }
    /// What no app has finished.
    public static var unfinished: Transaction.Transactions { Transactions() }

    /// The app has delivered it.
    public func finish() async {}
}
