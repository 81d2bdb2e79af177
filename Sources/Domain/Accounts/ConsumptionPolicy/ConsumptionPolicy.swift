/// What the operator has decided about Apple's requests for consumption data: rules in their order, of which the first that fits
/// speaks. What none fits is not answered.
public struct ConsumptionPolicy: Sendable, Hashable {
    /// The rules, in their order.
    public let rules: [ConsumptionRule]

    /// A policy of these rules.
    public init(rules: [ConsumptionRule]) { self.rules = rules }

    /// The rule that speaks about this; nil where none does.
    public func rule(for subject: ConsumptionSubject) -> ConsumptionRule? { rules.first { $0.fits(subject) } }

    /// Whether any of its rules may answer for an app.
    public func answers(for app: String) -> Bool {
        rules.contains { $0.verdict != .leaveToApple && $0.apps?.contains(app) != false }
    }

    /// The apps that its rules name.
    public var apps: Set<String> { rules.reduce(into: []) { $0.formUnion($1.apps ?? []) } }
}
