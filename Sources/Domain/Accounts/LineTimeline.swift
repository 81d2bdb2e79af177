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
        /// Whether no account owns it.
        let isFree: Bool
        /// The rank of the product's tier; nil where the catalog does not know it.
        let productRank: Int?

        /// The rank of the tier that it gives its owner; nil where it gives none.
        var worth: Int? { phase.status.access ? productRank : nil }

        /// The rank of the tier that it gives the account.
        var rank: Int? { isOwned ? worth : nil }
        var gives: Bool { rank != nil }
        /// Whether no other account owns it. What is free until the account proves it counts from its beginning.
        var mayCount: Bool { isOwned || isFree }
        /// Whether there is something to block: with access, or while it is being retried. What the catalog does not know gives
        /// nothing that a block could end.
        var isThere: Bool {
            mayCount && productRank != nil && (phase.status.access || phase.status == .billingRetry)
        }
    }

    let key: PurchaseKey
    /// In order; the last one has no end.
    let spans: [Span]

    /// - Parameter erasedAt: when the account was erased. A purchase that it owned before counts as owned by no account until then.
    init(_ line: AccountLine, of account: UniqueIdentifier, erasedAt: Timestamp? = nil, _ catalog: Catalog) {
        key = line.key
        let phases = Self.phases(of: line, catalog)
        var spans: [Span] = []
        let instants = erasedAt.map { (line.instants + [$0]).sorted() } ?? line.instants
        for (place, phase) in phases.enumerated() {
            let end = place + 1 < phases.count ? phases[place + 1].startsAt : .distantFuture
            let cuts = instants.filter { phase.startsAt < $0 && $0 < end }
            let signed = line.signed(phase)
            let rank = phase.productID.flatMap { catalog.rank(ofProduct: $0, of: line.key.bundleID) }
            for startsAt in [phase.startsAt] + cuts where spans.last?.startsAt != startsAt {
                var owner = line.ownership.owner(signed: signed, at: startsAt)
                if let erasedAt, startsAt < erasedAt, owner == account { owner = nil }
                spans.append(
                    Span(
                        startsAt: startsAt, phase: phase, isOwned: owner == account, isFree: owner == nil,
                        productRank: rank))
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
                signedAccount: bought.signedAccount, boughtAt: bought.boughtLast(by: startsAt))
        }
        var phases: [LinePhase] = []
        if end.map({ bought.purchasedAt < $0 }) ?? true { phases.append(phase(.active, from: bought.purchasedAt)) }
        if let end { phases.append(phase(.expired, from: end)) }
        for gap in bought.gaps {
            let standing = phases.last { $0.startsAt <= gap.until } ?? phase(.active, from: gap.until)
            phases.removeAll { gap.from <= $0.startsAt && $0.startsAt <= gap.until }
            phases += [phase(.revoked, from: gap.from), phase(standing.status, from: gap.until)]
        }
        phases.sort { $0.startsAt < $1.startsAt }
        if let revokedAt = bought.revokedAt {
            phases.removeAll { $0.startsAt >= revokedAt }
            phases.append(phase(.revoked, from: max(revokedAt, bought.purchasedAt)))
        }
        return bought.earlierAccounts.isEmpty ? phases : divided(phases, by: bought)
    }

    /// Divides phases where another account was signed into the purchase.
    private static func divided(_ phases: [LinePhase], by bought: AccountLine.BoughtOnce) -> [LinePhase] {
        var divided = phases
        for instant in bought.earlierAccounts.map(\.until) where !phases.contains(where: { $0.startsAt == instant }) {
            guard var standing = phases.last(where: { $0.startsAt < instant }) else { continue }
            standing.startsAt = instant
            divided.append(standing)
        }
        divided.sort { $0.startsAt < $1.startsAt }
        for place in divided.indices {
            divided[place].signedAccount = bought.signedAccount(at: divided[place].startsAt)
        }
        return divided
    }

    func place(at instant: Timestamp) -> Int? {
        let next = spans.partitioningIndex { $0.startsAt > instant }
        return next > 0 ? next - 1 : nil
    }

    func span(at instant: Timestamp) -> Span? { place(at: instant).map { spans[$0] } }

    /// For a span in which a renewal is waited for: when the waiting ends if Apple reports nothing before.
    func waitsUntil(from place: Int) -> Timestamp? {
        let phase = spans[place].phase
        // Spans of one phase differ in the owner alone.
        return phase.waitsUntil ?? spans[place...].first { $0.phase.startsAt != phase.startsAt }?.startsAt
    }

    /// The first instant from one on at which it gives nothing; nil where there is none, or where days cannot be added
    /// after what ended it.
    func extensibleEnd(from instant: Timestamp) -> Timestamp? {
        guard let lost = firstLost(from: instant), lost.isOwned, lost.phase.status != .revoked else { return nil }
        return max(lost.startsAt, instant)
    }

    /// The first span from an instant on in which it gives nothing.
    func firstLost(from instant: Timestamp) -> Span? {
        place(at: instant).flatMap { place in spans[place...].first { !$0.gives } }
    }

    /// The last span, among those that began by an instant, in which the purchase gave the account something.
    ///
    /// A span in which no account owned it counts as the account's, except where another account owned a later span.
    func lastGiven(by instant: Timestamp) -> (place: Int, end: Timestamp?)? {
        guard var place = place(at: instant) else { return nil }
        var wasOthers = false
        while spans[place].worth == nil || !spans[place].isOwned {
            if spans[place].worth != nil, spans[place].isFree, !wasOthers { break }
            wasOthers = wasOthers || !(spans[place].isOwned || spans[place].isFree)
            if place == 0 { return nil }
            place -= 1
        }
        return (place, place + 1 < spans.count ? spans[place + 1].startsAt : nil)
    }

    /// The first span that belongs to a source that was not there at an instant: a purchase that the customer made
    /// since, or a renewal to a plan that was chosen since. All that follows belongs to it.
    ///
    /// Whether a renewal is to a plan chosen since depends on the instant: by then Apple had charged for it, or the
    /// latest renewal info named it, or it is of the product that was there, or it is new.
    func firstNew(since instant: Timestamp) -> Int {
        guard let place = place(at: instant) else { return 0 }
        let there = spans[place].phase
        for next in spans.indices.suffix(from: place + 1) {
            let phase = spans[next].phase
            if let boughtAt = phase.boughtAt, boughtAt > instant { return next }
            guard let product = phase.productID, product != spans[next - 1].phase.productID,
                product != there.productID, product != there.namedProductID
            else { continue }
            if phase.chargedAt ?? phase.startsAt > instant { return next }
        }
        return spans.endIndex
    }

    /// Whether the renewal that was to follow a span was not there at an instant; by the same rule.
    func isReplacedRenewalNew(in place: Int, since instant: Timestamp) -> Bool {
        guard let renewal = spans[place].phase.replacedRenewal, let then = self.place(at: instant) else { return false }
        let there = spans[then].phase
        let isCharged = there.replacedRenewal == renewal
        return !isCharged && renewal.productID != there.productID && renewal.productID != there.namedProductID
    }

    /// Whether the last that these phases gave was a trial, so that nothing was paid for after it. Grace is part of the
    /// trial that it follows.
    static func hasEndedAsTrial(_ phases: some BidirectionalCollection<LinePhase>) -> Bool {
        phases.last { $0.status.access && $0.status != .gracePeriod }?.inTrial ?? false
    }

    func hasEndedAsTrial(at instant: Timestamp) -> Bool {
        guard let place = place(at: instant) else { return false }
        return Self.hasEndedAsTrial(spans[...place].lazy.map(\.phase))
    }
}
