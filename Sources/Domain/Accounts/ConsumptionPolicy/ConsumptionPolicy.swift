/// The operator's policy for Apple's requests for consumption data: rules in order. The first that matches applies. A request without a matching
/// rule is not answered.
public struct ConsumptionPolicy: Sendable, Hashable {
    /// The rules, in their order.
    public let rules: [ConsumptionRule]

    /// A policy of these rules.
    public init(rules: [ConsumptionRule]) { self.rules = rules }

    /// The rule that applies to a request; nil where none does.
    public func rule(for subject: ConsumptionSubject) -> ConsumptionRule? { rules.first { $0.fits(subject) } }

    /// Whether any of its rules may answer for an app.
    public func answers(for app: String) -> Bool {
        rules.contains { $0.verdict != .leaveToApple && $0.apps?.contains(app) != false }
    }

    /// The apps that its rules name.
    public var apps: Set<String> { rules.reduce(into: []) { $0.formUnion($1.apps ?? []) } }
}
