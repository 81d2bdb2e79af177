import Foundation
import StorehookClient
import StorehookClientTesting

/// The App Store on a life's device: the stand-in, what it handed over last, and what comes by itself, where the test says so.
final class LivesStore: PurchaseSource, @unchecked Sendable {
    // The lock guards all of `state`.

    private struct State {
        var held: [StoreTransaction] = []
        /// When each transaction was revoked, as the app has got it last.
        var seen: [String: Date?] = [:]
        /// What was handed over as taken back.
        var takenBack: Set<String> = []
        var updates: [StoreResult] = []
        /// The app, while it waits for the next update.
        var reader: CheckedContinuation<StoreResult?, Never>?
        var isRead = false
        var isCancelled = false
        /// The test, while the app is at work on updates.
        var settling: CheckedContinuation<Void, Never>?
    }

    private let source: StandInSource
    private let lock = NSLock()
    private var state = State()

    init(_ source: StandInSource) { self.source = source }

    /// What the app may use, as it was read last in this launch.
    var held: [StoreTransaction] { change { $0.held } }

    /// The transactions that the App Store has taken back, as far as the app was handed that in this launch.
    var takenBack: Set<String> { change { $0.takenBack } }

    // MARK: - PurchaseSource

    func products(_ identifiers: [String]) async throws -> [StoreProduct] { try await source.products(identifiers) }

    func purchase(_ productID: String, appAccountToken: UUID) async throws -> PurchaseOutcome {
        let outcome = try await source.purchase(productID, appAccountToken: appAccountToken)
        if case .success(.verified(let transaction)) = outcome { _ = isNews(transaction) }
        return outcome
    }

    func currentEntitlements() async throws -> [StoreResult] {
        let results = try await source.currentEntitlements()
        change { $0.held = results.compactMap { if case .verified(let transaction) = $0 { transaction } else { nil } } }
        return results
    }

    func unfinished() async throws -> [StoreResult] {
        let results = try await source.unfinished()
        change { state in
            for case .verified(let transaction) in results where transaction.revokedAt != nil {
                state.takenBack.insert(transaction.id)
            }
        }
        return results
    }

    /// One reader's: the app asks for the next update when it is done with the one before.
    var updates: AsyncStream<StoreResult> {
        change { $0.isRead = true }
        return AsyncStream {
            await self.next()
        } onCancel: {
            self.cancel()
        }
    }

    func finish(_ transaction: StoreTransaction) async throws { try await source.finish(transaction) }

    func sync() async throws { try await source.sync() }

    // MARK: - What comes by itself

    /// Hands over what came by itself, and waits until the app is done with it.
    func look() async {
        guard change({ $0.isRead && !$0.isCancelled }), let results = try? await source.unfinished() else { return }
        for result in results {
            guard case .verified(let transaction) = result, isNews(transaction) else { continue }
            let reader = change { state in
                defer { state.reader = nil }
                if state.reader == nil { state.updates.append(result) }
                return state.reader
            }
            reader?.resume(returning: result)
        }
        await withCheckedContinuation { continuation in
            let isAtRest = change { state in
                if state.reader != nil || state.isCancelled { return true }
                state.settling = continuation
                return false
            }
            if isAtRest { continuation.resume() }
        }
    }

    private func isNews(_ transaction: StoreTransaction) -> Bool {
        change { state in
            defer { state.seen[transaction.id] = .some(transaction.revokedAt) }
            return state.seen[transaction.id] != .some(transaction.revokedAt)
        }
    }

    private func next() async -> StoreResult? {
        await withCheckedContinuation { continuation in
            let (result, settled): (StoreResult??, CheckedContinuation<Void, Never>?) = change { state in
                if !state.updates.isEmpty { return (.some(state.updates.removeFirst()), nil) }
                if !state.isCancelled { state.reader = continuation }
                defer { state.settling = nil }
                return (state.isCancelled ? .some(nil) : nil, state.settling)
            }
            settled?.resume()
            if let result { continuation.resume(returning: result) }
        }
    }

    private func cancel() {
        let (reader, settled) = change { state in
            defer { (state.reader, state.settling, state.isCancelled) = (nil, nil, true) }
            return (state.reader, state.settling)
        }
        reader?.resume(returning: nil)
        settled?.resume()
    }

    private func change<T>(_ body: (inout State) -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }
}
