import Foundation

@testable import StorehookClient

/// A store with one customer, which outlives the app's processes.
final class FakeStore: PurchaseSource, @unchecked Sendable {
    struct Away: Error {}
    struct Killed: Error {}

    /// What it has.
    struct Shelf {
        var held: [StoreResult] = []
        var unfinished: [StoreResult] = []
        /// What the next purchase comes to; a new transaction where nothing is said.
        var outcome: PurchaseOutcome?
        var isAway = false
        var failsToFinish = false
        var finished: [String] = []
        /// All that was ever sold.
        var sold: [StoreTransaction] = []
        var next = 1
        var period: TimeInterval = 30 * 86_400
        var now = MovedClock.start
        var bought: [UUID] = []
        var syncs = 0
        var isSyncCancelled = false
        /// What buying and synchronizing throw; nothing by default.
        var error: (any Error)?
    }

    // The lock guards both.
    private var shelf = Shelf()
    private var listeners: [AsyncStream<StoreResult>.Continuation] = []
    private let lock = NSLock()

    @discardableResult
    func with<Result>(_ change: (inout Shelf) -> Result) -> Result { lock.withLock { change(&shelf) } }

    /// As a transaction that comes by itself.
    func post(_ result: StoreResult) {
        for listener in lock.withLock({ listeners }) { listener.yield(result) }
    }

    private func asked<Result>(_ change: (inout Shelf) throws -> Result) throws -> Result {
        try lock.withLock {
            if shelf.isAway { throw Away() }
            return try change(&shelf)
        }
    }

    func products(_ identifiers: [String]) async throws -> [StoreProduct] {
        try asked { _ in
            identifiers.filter { $0 != "unknown" }.sorted().map {
                StoreProduct(id: $0, displayName: $0, price: 1, displayPrice: "$1")
            }
        }
    }

    func purchase(_ productID: String, appAccountToken: UUID) async throws -> PurchaseOutcome {
        try asked { shelf in
            if let error = shelf.error { throw error }
            shelf.bought.append(appAccountToken)
            if let error = shelf.error { throw error }
            if let outcome = shelf.outcome {
                if case .success(let result) = outcome { shelf.unfinished.append(result) }
                return outcome
            }
            return .success(.verified(shelf.sell(productID, to: appAccountToken)))
        }
    }

    func currentEntitlements() async throws -> [StoreResult] {
        try asked { shelf in
            shelf.held.filter { result in
                guard case .verified(let transaction) = result, let end = transaction.expiresAt else { return true }
                return end > shelf.now
            }
        }
    }

    func unfinished() async throws -> [StoreResult] { try asked { $0.unfinished } }

    var updates: AsyncStream<StoreResult> {
        let (stream, continuation) = AsyncStream.makeStream(of: StoreResult.self)
        lock.withLock { listeners.append(continuation) }
        return stream
    }

    func finish(_ transaction: StoreTransaction) async throws {
        try asked { shelf in
            if shelf.failsToFinish { throw Killed() }
            shelf.finished.append(transaction.id)
            shelf.unfinished.removeAll { $0 == .verified(transaction) }
        }
    }

    func sync() async throws {
        try asked { shelf in
            shelf.syncs += 1
            if let error = shelf.error { throw error }
            if shelf.isSyncCancelled { throw CancellationError() }
        }
    }
}

extension FakeStore.Shelf {
    /// Sells a product: it is held, and unfinished.
    @discardableResult
    mutating func sell(_ productID: String, to token: UUID?, of original: String? = nil) -> StoreTransaction {
        let id = "\(1000 + next)"
        next += 1
        let transaction = StoreTransaction(
            id: id, originalID: original ?? id, productID: productID, purchasedAt: now,
            expiresAt: productID == "lifetime" ? nil : now + period, appAccountToken: token,
            signedTransactionInfo: "signed.\(id).secret", signedRenewalInfo: "renewal.\(id).secret")
        held.removeAll { result in
            guard case .verified(let before) = result else { return false }
            return before.originalID == transaction.originalID
        }
        held.append(.verified(transaction))
        unfinished.append(.verified(transaction))
        sold.append(transaction)
        return transaction
    }
}
