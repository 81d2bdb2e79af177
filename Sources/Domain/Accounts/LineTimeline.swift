import AppStorePayloads
import Base
import Subscriptions

/// A purchase from one account's view under a catalog: spans of time in which nothing that matters changes.
struct LineTimeline {
    /// A piece of time.
    struct Span {
        let startsAt: Timestamp
        let phase: LinePhase
        let isOwned: Bool
        /// The rank of the tier that it gives; nil where it gives none.
        let rank: Int?
        /// The beginning of the stretch in which it is there; nil where it is not.
        let stretch: Timestamp?

        var gives: Bool { rank != nil }
    }

    let key: PurchaseKey
    /// In order; the last one has no end.
    let spans: [Span]

    init(_ line: AccountLine, of account: UniqueIdentifier, _ catalog: Catalog) {
        key = line.key
        let phases = Self.phases(of: line, catalog)
        var spans: [Span] = []
        var stretch: Timestamp?
        for (place, phase) in phases.enumerated() {
            let end = place + 1 < phases.count ? phases[place + 1].startsAt : .distantFuture
            let cuts = line.ownership.instants.filter { phase.startsAt < $0 && $0 < end }
            for startsAt in [phase.startsAt] + cuts where spans.last?.startsAt != startsAt {
                let isOwned = line.ownership.owner(signed: phase.signedAccount, at: startsAt) == account
                let isThere = isOwned && (phase.status.access || phase.status == .billingRetry)
                stretch = isThere ? stretch ?? startsAt : nil
                let product = phase.productID.flatMap { catalog.product($0, of: line.key.bundleID) }
                spans.append(
                    Span(
                        startsAt: startsAt, phase: phase, isOwned: isOwned,
                        rank: isThere && phase.status.access ? product.flatMap { catalog.rank(of: $0.tier) } : nil,
                        stretch: stretch))
            }
        }
        self.spans = spans
    }

    /// The phases of a purchase of any kind.
    static func phases(of line: AccountLine, _ catalog: Catalog) -> [LinePhase] {
        switch line.content {
        case .subscription(let phases): phases
        case .oneTime(let bought): phases(of: bought, catalog.product(bought.productID ?? "", of: line.key.bundleID))
        }
    }

    private static func phases(of bought: AccountLine.BoughtOnce, _ product: Catalog.Product?) -> [LinePhase] {
        guard bought.kind != .consumable else { return [] }
        var end: Timestamp?
        if bought.kind == .nonRenewing {
            end = bought.expiresAt
            if end == nil, let product {
                if product.period == .lifetime { return phases(of: bought, until: nil) }
                guard let days = product.days else { return [] }
                end = bought.purchasedAt.adding(days: Int64(days))
            }
        }
        return phases(of: bought, until: end)
    }

    private static func phases(of bought: AccountLine.BoughtOnce, until end: Timestamp?) -> [LinePhase] {
        func phase(_ status: SubscriptionStatus, from startsAt: Timestamp) -> LinePhase {
            LinePhase(
                startsAt: startsAt, status: status, productID: bought.productID, accessUntil: end,
                signedAccount: bought.signedAccount)
        }
        var phases: [LinePhase] = []
        if end.map({ bought.purchasedAt < $0 }) ?? true { phases.append(phase(.active, from: bought.purchasedAt)) }
        if let end { phases.append(phase(.expired, from: end)) }
        if let revokedAt = bought.revokedAt {
            phases.removeAll { $0.startsAt >= revokedAt }
            phases.append(phase(.revoked, from: max(revokedAt, bought.purchasedAt)))
        }
        return phases
    }

    func place(at instant: Timestamp) -> Int? {
        let next = spans.partitioningIndex { $0.startsAt > instant }
        return next > 0 ? next - 1 : nil
    }

    func span(at instant: Timestamp) -> Span? { place(at: instant).map { spans[$0] } }

    /// The first instant from one on at which it gives nothing; nil where there is none, or where days cannot be added
    /// after what ended it.
    func extensibleEnd(from instant: Timestamp) -> Timestamp? {
        guard let place = place(at: instant) else { return nil }
        guard let lost = spans[place...].first(where: { !$0.gives }), lost.isOwned, lost.phase.status != .revoked
        else { return nil }
        return max(lost.startsAt, instant)
    }

    /// The last span, among those that began by an instant, in which it gave something.
    func lastGiven(by instant: Timestamp) -> (span: Span, end: Timestamp?)? {
        guard let place = place(at: instant), let last = spans[...place].lastIndex(where: \.gives) else { return nil }
        return (spans[last], last + 1 < spans.count ? spans[last + 1].startsAt : nil)
    }

    /// When the stretch that began at an instant ends; nil where it has no end.
    func end(ofStretch start: Timestamp) -> Timestamp? {
        spans.first { $0.startsAt > start && $0.stretch != start }?.startsAt
    }
}
