public import Base

/// The catalogs that were current one after the other, up to the current one, or up to the one that is being prepared.
///
/// What an account was at an instant is decided by the catalog that was current then. Catalogs between which no account can change
/// count as one.
public struct CatalogTimeline: Sendable, Hashable {
    /// A catalog, and since when it counts.
    public struct Reign: Sendable, Hashable {
        /// Its first instant; ``/AppStorePayloads/Timestamp/distantPast`` of the first.
        public var startsAt: Timestamp
        /// The catalog.
        public var catalog: Catalog

        /// A reign.
        public init(from startsAt: Timestamp, _ catalog: Catalog) {
            self.startsAt = startsAt
            self.catalog = catalog
        }
    }

    /// In order, at least one.
    public private(set) var reigns: [Reign]

    /// One catalog for all time.
    public init(_ catalog: Catalog) { reigns = [Reign(from: .distantPast, catalog)] }

    /// The last catalog.
    public var last: Catalog { reigns[reigns.count - 1].catalog }

    /// All of them, in order.
    public var catalogs: [Catalog] { reigns.map(\.catalog) }

    /// Another catalog takes over.
    public mutating func append(_ catalog: Catalog, from instant: Timestamp) {
        // It takes the last one's place where that never counted before it, or where both say the same of accounts: the
        // newer one knows more.
        if reigns[reigns.count - 1].startsAt >= instant || CatalogChange(from: last, to: catalog).isOfNone {
            reigns[reigns.count - 1].catalog = catalog
        } else {
            reigns.append(Reign(from: instant, catalog))
        }
    }
}

extension AccountState {
    /// Derives the state by the catalog of each instant.
    /// - Parameter from: earlier phases are left out.
    public init(_ facts: AccountFacts, by timeline: CatalogTimeline, from: Timestamp = .distantPast) {
        let reigns = timeline.reigns
        let first = reigns.lastIndex { $0.startsAt <= from } ?? 0
        let deciding = facts.acts.filter(\.kind.isAboutWhatDecides).map(\.at)
        guard first + 1 < reigns.count || deciding.contains(where: { $0 < reigns[first].startsAt }) else {
            self.init(facts, catalog: reigns[first].catalog, from: from)
            return
        }
        var phases: [AccountPhase] = []
        var holdings: [AccountHolding] = []
        var decisions: [Int: AccountRules.Decision] = [:]
        for (place, reign) in reigns.enumerated() {
            let end = place + 1 < reigns.count ? reigns[place + 1].startsAt : .distantFuture
            let decides = deciding.contains { reign.startsAt <= $0 && $0 < end }
            guard place >= first || decides else { continue }
            let rules = AccountRules(facts, reign.catalog, knowing: decisions, from: reign.startsAt)
            decisions = rules.decisions.filter { rules.acts[$0.key].at < end }
            guard place >= first else { continue }
            let startsAt = max(reign.startsAt, from)
            let state = AccountState(rules, from: startsAt, to: end)
            for phase in state.phases where phases.last?.continues(phase) != true { phases.append(phase) }
            for var holding in state.holdings ?? [] {
                // The next catalog may say otherwise.
                if holding.endsAt == nil, end < .distantFuture { holding.endsAt = end }
                let last = holdings.lastIndex {
                    $0.purchase == holding.purchase && $0.productID == holding.productID && $0.endsAt == startsAt
                }
                if let last, holding.startsAt == startsAt {
                    holdings[last].endsAt = holding.endsAt
                } else {
                    holdings.append(holding)
                }
            }
        }
        self.init(phases: phases, holdings: holdings.sorted())
    }

    /// The state from an instant on.
    public func from(_ instant: Timestamp) -> AccountState {
        guard let first = phases.lastIndex(where: { $0.startsAt <= instant }) else { return self }
        var kept = Array(phases[first...])
        kept[0].startsAt = max(kept[0].startsAt, instant)
        let holdings = holdings?.compactMap { holding -> AccountHolding? in
            if let end = holding.endsAt, end <= instant { return nil }
            var holding = holding
            holding.startsAt = max(holding.startsAt, instant)
            return holding
        }
        return AccountState(phases: kept, holdings: holdings?.sorted())
    }
}
