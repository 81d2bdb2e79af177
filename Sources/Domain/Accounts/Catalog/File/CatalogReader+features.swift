import Base
import Yams

extension CatalogReader {
    /// The features of a file.
    mutating func features(_ file: CatalogEntry, _ tiers: [Catalog.Tier]) -> [Catalog.Feature] {
        var places: [String: Int] = [:]
        return file.entries("features").compactMap { entry in
            let names = texts(entry, "name")
            let units = texts(entry, "unit")
            let known = entry.text("id").map { isNew($0, entry["id"], "feature", &places) }
            let id = entry.text("id") ?? "a feature"
            var limits: [String: Catalog.Limit] = [:]
            var nodes: [String: Node] = [:]
            for (node, tier, text) in entry.values("limits") {
                requireTier(tier, node, tiers, "feature \(id)")
                limits[tier] = Catalog.Limit(text)
                nodes[tier] = node
            }
            checkTiers(entry, id, tiers)
            warnOfFalls(id, tiers.compactMap { tier in limits[tier.id].map { (tier.id, $0) } }, nodes)
            return known == true ? Catalog.Feature(id: id, names: names, units: units, limits: limits) : nil
        }
    }

    /// Every tier must be named: a forgotten one must not take something from its customers.
    private mutating func checkTiers(_ entry: CatalogEntry, _ id: String, _ tiers: [Catalog.Tier]) {
        guard let mapping = entry["limits"]?.mapping else { return }
        let named = Set(mapping.compactMap { $0.key.scalar?.string })
        let missing = tiers.map(\.id).filter { !named.contains($0) }
        if !missing.isEmpty {
            complain(
                entry["limits"],
                "the limits of \(id) do not name \(missing.prefix(10).joined(separator: ", ")); write no where a tier gives "
                    + "nothing of it")
        }
    }

    /// A higher tier should not give less. A feature that is counted in total in one tier and by time in another
    /// starts anew for a customer who changes between them.
    private mutating func warnOfFalls(
        _ id: String, _ limits: [(tier: String, limit: Catalog.Limit)], _ nodes: [String: Node]
    ) {
        for ((lower, less), (higher, more)) in zip(limits, limits.dropFirst()) {
            if more.isLess(than: less) {
                warn(
                    nodes[higher],
                    "\(id) falls from \(less) in \(lower) to \(more) in \(higher), the higher tier")
            }
        }
        let stock = limits.first { $0.limit.period == .total && $0.limit.isOpen }
        let flow = limits.first { $0.limit.period == .day || $0.limit.period == .month }
        if let stock, let flow {
            warn(
                nodes[stock.tier],
                "\(id) is counted in total in \(stock.tier) and by time in \(flow.tier); each has a count of its own")
        }
    }
}

extension Catalog.Limit {
    /// The period it is counted over; nil where there is no number.
    fileprivate var period: Catalog.UsagePeriod? {
        if case .count(_, let period) = self { period } else { nil }
    }

    /// Whether it certainly gives less: between a day and a month, in any month. A stock compares with neither.
    fileprivate func isLess(than other: Catalog.Limit) -> Bool {
        switch (self, other) {
        case (_, .no): return false
        case (.no, _): return other.isOpen
        case (.count, .yes), (.count, .unlimited): return true
        case (.count(let count, let period), .count(let most, let span)):
            switch (period, span) {
            case _ where count == 0: return most > 0
            case _ where period == span: return count < most
            case (.month, .day): return count / 28 < most
            case (.day, .month): return count < (most + 30) / 31
            default: return false
            }
        case (.yes, _), (.unlimited, _): return false
        }
    }
}
