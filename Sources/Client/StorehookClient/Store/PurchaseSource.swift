public import Foundation

/// Where an app buys: the App Store, or what stands in for it. May be used from any thread.
public protocol PurchaseSource: Sendable {
    /// What the store sells of these identifiers; those that it does not know are left out.
    /// - Throws: where the store cannot be asked.
    func products(_ identifiers: [String]) async throws -> [StoreProduct]

    /// Buys a product. The transaction is unfinished until ``finish(_:)``.
    /// - Parameter appAccountToken: the token of `GET /v1/account`, which the store signs into the transaction.
    /// - Throws: where the purchase failed, or it is not known whether it did; ``ClientError/cancelled`` is no failure.
    func purchase(_ productID: String, appAccountToken: UUID) async throws -> PurchaseOutcome

    /// What the customer may use now, by the store: the latest transaction of each subscription that is active or in its grace
    /// period, and one-time purchases other than consumables.
    /// - Throws: where the store cannot be asked.
    func currentEntitlements() async throws -> [StoreResult]

    /// What was bought and not finished.
    /// - Throws: where the store cannot be asked.
    func unfinished() async throws -> [StoreResult]

    /// Transactions that come by themselves: renewals, refunds, what was approved, purchases on other devices. Each call makes a
    /// stream of its own.
    var updates: AsyncStream<StoreResult> { get }

    /// What was bought is delivered: the store hands it out no more.
    /// - Throws: where the store cannot be reached; the transaction is then unfinished still.
    func finish(_ transaction: StoreTransaction) async throws

    /// Has the store hand over everything that the customer has bought; the customer may be asked to sign in.
    /// - Throws: where the store cannot be asked; ``ClientError/cancelled`` where the customer does not want it.
    func sync() async throws
}
