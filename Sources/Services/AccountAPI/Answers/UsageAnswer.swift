import APIKit
package import Accounts
package import Base

/// `POST /v1/usage/{feature}`: that use was counted, and what is left.
package struct UsageAnswer: Sendable, Hashable {
    /// Whether it was counted now; not where the same idempotency key was counted before.
    package var isNew: Bool
    /// How much was counted.
    package var amount: Int64
    /// The feature after that.
    package var feature: FeatureView

    /// An answer.
    package init(_ amount: Int64, isNew: Bool, _ feature: FeatureView) {
        self.isNew = isNew
        self.amount = amount
        self.feature = feature
        self.feature.report = .counted
    }

    /// What it looks like. A report that is answered so was allowed; what is left is another member.
    package static let shape = FeatureAnswer.shape.changed(
        named: "Feature",
        replacing: [
            .init("allowed", "Always true: this report was counted. Whether another one would be says remaining.") {
                $0.restriction == nil
            }
        ]
    ).after(
        [
            .init("counted", "How much was counted by this request, or by the one with the same key.") { $0.amount },
            .init("duplicate", "Whether the same key was counted before.") { !$0.isNew },
        ], named: "CountedUsage"
    ) { (answer: UsageAnswer) in answer.feature }

    /// The members of a feature that a refusal has.
    private static let shown = [
        "feature", "reason", "requiredTier", "upgradePrompt", "limit", "used", "remaining", "resetsAt",
    ]

    /// The members of the refusals `tier_required` and `limit_reached`, beside those of every problem.
    package static func members(of refused: FeatureView, for reader: Reader) -> [JSONValue.Member] {
        var refused = refused
        refused.report = .refused
        guard case .object(let members) = FeatureAnswer.shape.value(of: refused, for: reader) else { return [] }
        return members.filter { shown.contains($0.name) }
    }

    /// Likewise in `/openapi.json`.
    static let problem: ProblemStyle = {
        guard case .named(_, .object(let members)) = FeatureAnswer.shape.schema else { return .problem }
        return .problem(
            "UsageProblem",
            adding: members.filter { shown.contains($0.name) }.map { .optional($0.name, $0.schema, $0.about) })
    }()
}
