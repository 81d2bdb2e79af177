import Postgres

/// What a request came to.
package struct ConsumptionSettlement: Sendable, Hashable {
    /// `Production` or `Sandbox`.
    package var environment: String
    /// What it came to.
    package var outcome: ConsumptionOutcome
    /// Why it was not answered, or Apple's code.
    package var why: String?

    /// Reads the columns environment, outcome and why.
    init(_ row: PostgresRow) throws {
        environment = try row.decode("environment")
        outcome = try row.decode("outcome", among: ConsumptionOutcome.self)
        why = try row.decode("why")
    }
}
