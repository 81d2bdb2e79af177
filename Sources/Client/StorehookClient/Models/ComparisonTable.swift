/// What each tier gives of each feature, side by side.
public struct ComparisonTable: Sendable, Hashable {
    /// A tier.
    public struct Column: Sendable, Hashable, Identifiable {
        /// The catalog's id of the tier.
        public let id: String
        /// What customers call it.
        public let name: String
        /// Whether it is the account's.
        public let isCurrent: Bool
    }

    /// A feature.
    public struct Row: Sendable, Hashable, Identifiable {
        /// The catalog's id of the feature.
        public let id: String
        /// What customers call it.
        public let name: String
        /// What each tier gives, in the order of the columns.
        public let cells: [Cell]
    }

    /// What a tier gives of a feature.
    public struct Cell: Sendable, Hashable {
        /// How much.
        public let limit: FeatureLimit
        /// The same for people, in the language of the texts.
        public let text: String
        /// Whether it gives any, for a tick or a cross.
        public var isIncluded: Bool { limit.isOpen }
    }

    /// What stands above it.
    public let title: String
    /// What stands above the features' names.
    public let featureTitle: String
    /// All tiers in rising order.
    public let columns: [Column]
    /// All features in the catalog's order.
    public let rows: [Row]

    /// A table of rules.
    /// - Parameter current: the account's tier; nil is the first one.
    init(_ rules: FeatureRules, current: String?, _ texts: ClientTexts) {
        title = texts(.comparisonTitle)
        featureTitle = texts(.comparisonFeature)
        let own = current ?? rules.tiers.first?.id
        columns = rules.tiers.map { Column(id: $0.id, name: $0.name, isCurrent: $0.id == own) }
        rows = rules.features.map { feature in
            Row(
                id: feature.id, name: feature.name,
                cells: rules.tiers.map { tier in
                    let limit = tier.limits[feature.id] ?? .closed
                    return Cell(limit: limit, text: limit.text(unit: feature.unit, texts))
                })
        }
    }
}

extension FeatureLimit {
    /// What people read in a table.
    func text(unit: String?, _ texts: ClientTexts) -> String {
        switch self {
        case .closed: texts(.cellNotIncluded)
        case .open: texts(.cellIncluded)
        case .unlimited: texts(.cellUnlimited)
        case .count(let most, .day): texts(.cellPerDay, ["amount": texts.amount(most, unit: unit)])
        case .count(let most, .month): texts(.cellPerMonth, ["amount": texts.amount(most, unit: unit)])
        case .count(let most, .total): texts(.cellInTotal, ["amount": texts.amount(most, unit: unit)])
        }
    }
}
