import AppStorePayloads
public import Base
public import Subscriptions

/// The accounts that Apple signed into a purchase, as it stands in one phase.
public struct SignedAccounts: Sendable, Hashable {
    /// Signed into the period in force, or into the nearest one before it in its stretch.
    public var account: UniqueIdentifier?
    /// Named by renewal info alone, where no period of the line names one.
    public var upcoming: UniqueIdentifier?
    /// The ends of the line's stretches, in order.
    public var stretchEnds: [StretchEnd]

    /// Memberwise.
    public init(
        _ account: UniqueIdentifier?, upcoming: UniqueIdentifier? = nil, stretchEnds: [StretchEnd] = []
    ) {
        self.account = account
        self.upcoming = upcoming
        self.stretchEnds = stretchEnds
    }

    /// The account of a phase of a subscription; its origin states whether only renewal info names it.
    package init(_ account: UniqueIdentifier?, by origin: PhaseOrigin, stretchEnds: [StretchEnd] = []) {
        self.init(
            origin.isUpcomingAccount ? nil : account, upcoming: origin.isUpcomingAccount ? account : nil,
            stretchEnds: stretchEnds)
    }
}

/// The owner of a purchase at each instant. Each stretch of a line is looked at by itself, the one in force first; in order
/// of precedence:
///
/// 1. The account that staff moved it to in the stretch, from that instant on, whatever later renewals are signed for.
/// 2. The account that Apple signed into the period that gives the status, or into the nearest one before it in the
///    stretch.
/// 3. The account that proved the purchase in the stretch first, or that it was transferred to since; each from its own
///    instant on.
///
/// Where a stretch has none of them, the owner of the stretch before goes on; where no stretch has any, the account that
/// renewal info names for the upcoming renewal.
///
/// An erasure ends all of these: earlier records no longer count, and what Apple signed for the erased accounts does
/// not count at any later time. From then on the purchase is free for the next proof.
public struct PurchaseOwnership: Sendable, Hashable {
    /// Why an account owns a purchase.
    public enum Ground: Sendable, Hashable {
        /// Staff moved it in this stretch.
        case moved
        /// Apple signed it into this stretch.
        case signed
        /// It was proven in this stretch, or transferred.
        case proven
        /// It was the account's in an earlier stretch. The next account that proves the present stretch gets it.
        case earlier
        /// Renewal info names the account for the upcoming renewal. The next account that proves the purchase gets it.
        case upcoming

        /// Whether a proof by another account has to give way.
        public var isFirm: Bool { self != .earlier && self != .upcoming }
    }

    /// The recorded bindings, in the order in which they take effect.
    public let bindings: [PurchaseBinding]

    /// The ownership by recorded bindings, in any order.
    public init(_ bindings: some Sequence<PurchaseBinding> = []) { self.bindings = bindings.sorted() }

    /// The owner at an instant; nil where it is free.
    /// - Parameter signed: the accounts that Apple signed, by the phase in force then.
    public func owner(signed: SignedAccounts, at instant: Timestamp) -> UniqueIdentifier? {
        if bindings.isEmpty, let account = signed.account { return account }
        return holding(signed: signed, at: instant)?.account
    }

    /// The owner at an instant, and why; nil where it is free.
    public func holding(
        signed: SignedAccounts, at instant: Timestamp
    ) -> (account: UniqueIdentifier, ground: Ground)? {
        let next = bindings.firstIndex { $0.at > instant } ?? bindings.endIndex
        let known = bindings[..<next]
        let erased = known.lastIndex { $0.kind == .erasure }
        let standing = known[(erased.map { $0 + 1 } ?? known.startIndex)...]
        let ends = signed.stretchEnds.prefix { $0.at <= instant }
        var (account, limit) = (signed.account, Timestamp.distantFuture)
        for place in stride(from: ends.count, through: 0, by: -1) {
            let start = place > 0 ? ends[place - 1].at : Timestamp.distantPast
            let own = standing.filter { start <= $0.at && $0.at < limit }
            if let held = holding(account, own, at: instant) {
                return (held.account, place == ends.count ? held.ground : .earlier)
            }
            if place > 0 { account = ends[place - 1].account }
            limit = start
        }
        return counting(signed.upcoming, at: instant).map { ($0, .upcoming) }
    }

    /// The owner by what was signed into one stretch and recorded in it.
    private func holding(
        _ signed: UniqueIdentifier?, _ own: [PurchaseBinding], at instant: Timestamp
    ) -> (account: UniqueIdentifier, ground: Ground)? {
        if let moved = own.last(where: { $0.kind == .staff }) { return (moved.account, .moved) }
        if let signed = counting(signed, at: instant) { return (signed, .signed) }
        // After the first proof only a transfer passes it on.
        let proofs = own.filter { $0.kind != .staff }
        return (proofs.last { $0.kind == .transfer } ?? proofs.first).map { ($0.account, .proven) }
    }

    /// Whether Apple signed an account into the stretch in force that meets a condition, and that was not erased.
    public func isSigned(
        _ signed: SignedAccounts, for condition: (UniqueIdentifier) -> Bool, at instant: Timestamp
    ) -> Bool {
        counting(signed.account, at: instant).map(condition) ?? false
    }

    /// The account that Apple signed, unless it was erased.
    private func counting(_ signed: UniqueIdentifier?, at instant: Timestamp) -> UniqueIdentifier? {
        guard let signed else { return nil }
        let isErased = bindings.contains { $0.kind == .erasure && $0.at <= instant && $0.account == signed }
        return isErased ? nil : signed
    }

    /// The instants at which the owner may change.
    public var instants: [Timestamp] { bindings.map(\.at) }
}
