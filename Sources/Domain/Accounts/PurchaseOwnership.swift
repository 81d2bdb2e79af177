import AppStorePayloads
public import Base

/// The owner of a purchase at each instant. In order of precedence:
///
/// 1. The account that staff moved it to, from that instant on, whatever later renewals are signed for.
/// 2. The account that Apple signed into the period that gives the status, or into the nearest one before it.
/// 3. The account that proved the purchase last, where a rule let it move; the first to prove it has it from the
///    beginning.
///
/// An erasure ends all of these: earlier records no longer count, and what Apple signed for the erased accounts does
/// not count at any later time. From then on the purchase is free for the next proof.
public struct PurchaseOwnership: Sendable, Hashable {
    /// The recorded bindings, in the order in which they take effect.
    public let bindings: [PurchaseBinding]

    /// The ownership by recorded bindings, in any order.
    public init(_ bindings: some Sequence<PurchaseBinding> = []) { self.bindings = bindings.sorted() }

    /// The owner at an instant; nil where it is free.
    /// - Parameter signed: the account that Apple signed into the period in force then.
    public func owner(signed: UniqueIdentifier?, at instant: Timestamp) -> UniqueIdentifier? {
        if bindings.isEmpty { return signed }
        let next = bindings.firstIndex { $0.at > instant } ?? bindings.endIndex
        let known = bindings[..<next]
        let erased = known.lastIndex { $0.kind == .erasure }
        let standing = known[(erased.map { $0 + 1 } ?? known.startIndex)...]
        if let moved = standing.last(where: { $0.kind == .staff }) { return moved.account }
        if let signed = counting(signed, at: instant) { return signed }
        if let proven = standing.last(where: { $0.kind != .staff }) { return proven.account }
        guard erased == nil, let first = bindings.first(where: { $0.kind != .staff }), first.kind == .proof else {
            return nil
        }
        return first.account
    }

    /// The account that Apple signed, unless it was erased.
    public func counting(_ signed: UniqueIdentifier?, at instant: Timestamp) -> UniqueIdentifier? {
        guard let signed else { return nil }
        let isErased = bindings.contains { $0.kind == .erasure && $0.at <= instant && $0.account == signed }
        return isErased ? nil : signed
    }

    /// Whether staff moved it, and no erasure has undone that by an instant.
    public func isMovedByStaff(at instant: Timestamp) -> Bool {
        bindings.last { $0.at <= instant && ($0.kind == .staff || $0.kind == .erasure) }?.kind == .staff
    }

    /// The instants at which the owner may change.
    public var instants: [Timestamp] { bindings.map(\.at) }
}
