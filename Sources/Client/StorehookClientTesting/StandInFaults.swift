import Foundation

/// What goes wrong on purpose between a ``StandInSource`` and the stand-in, so that a test sees what an app makes of it.
///
/// May be used from any thread. What is set is used up by the calls that it meets, in their order.
public final class StandInFaults: @unchecked Sendable {
    // The lock guards all of `state`.

    /// A call of the source.
    public enum Point: Sendable, Hashable, CaseIterable {
        /// The products are asked for.
        case products
        /// Something is bought.
        case purchase
        /// What the customer may use is asked for.
        case entitlements
        /// What is unfinished is asked for, as at a start or by `updates`.
        case unfinished
        /// A transaction is finished.
        case finish
        /// The App Store is asked to hand over everything again.
        case sync
    }

    /// What a purchase comes to in place of a transaction.
    public enum Purchase: Sendable, Hashable {
        /// A parent (Ask to Buy) or the bank has to approve it: ``StandInSource/approve()`` buys it later.
        case pending
        /// The customer thinks better of it.
        case cancelled
    }

    /// Where a call breaks off.
    public enum Cut: Sendable, Hashable {
        /// Before the stand-in hears of it.
        case before
        /// After the stand-in has done it: the answer is lost.
        case after
    }

    private struct State {
        var cuts: [Point: [Cut]] = [:]
        var purchases: [Purchase] = []
        var unverified: [String: String] = [:]
        var isOffline = false
    }

    private let lock = NSLock()
    private var state = State()

    /// No faults.
    public init() {}

    /// Breaks the next calls off, each with ``StandInError/cut(_:)``.
    /// - Parameter count: how many of them; at least 1.
    public func cut(_ point: Point, _ cut: Cut = .before, count: Int = 1) {
        change { $0.cuts[point, default: []] += Array(repeating: cut, count: max(1, count)) }
    }

    /// Whether every call breaks off before the stand-in hears of it.
    public var isOffline: Bool {
        get { change { $0.isOffline } }
        set { change { $0.isOffline = newValue } }
    }

    /// Lets the next purchase come to something else than a transaction.
    public func next(_ purchase: Purchase) { change { $0.purchases.append(purchase) } }

    /// Lets the device find the signature of a transaction bad, whatever hands it out.
    /// - Parameters:
    ///   - transactionID: the transaction's id.
    ///   - reason: what the device says, for the app's log.
    public func distrust(_ transactionID: String, reason: String = "invalidSignature") {
        change { $0.unverified[transactionID] = reason }
    }

    /// Takes the next fault of a call, if there is one.
    func take(_ point: Point) -> Cut? {
        change { state in
            if state.isOffline { return .before }
            guard let first = state.cuts[point]?.first else { return nil }
            state.cuts[point]?.removeFirst()
            return first
        }
    }

    func takePurchase() -> Purchase? { change { $0.purchases.isEmpty ? nil : $0.purchases.removeFirst() } }

    func distrusted(_ transactionID: String) -> String? { change { $0.unverified[transactionID] } }

    private func change<T>(_ body: (inout State) -> T) -> T {
        lock.lock()
        defer { lock.unlock() }
        return body(&state)
    }
}
