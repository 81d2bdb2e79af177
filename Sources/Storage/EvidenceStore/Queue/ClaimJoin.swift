/// What a claim fetches besides the queue's own columns, in the same statement.
///
/// Only text of the program's own. The claimed rows are `claimed` (id, received_at, attempts, lapsed, lapses,
/// last_reason); the clause joins to them as `c`.
package struct ClaimJoin: Sendable, Hashable {
    let columns: String
    let clause: String

    /// Literals alone, because they stand in the statement as they are.
    /// - Parameters:
    ///   - columns: what to select, separated by commas.
    ///   - clause: an outer join, so that no claimed row is lost by it.
    package init(columns: StaticString, clause: StaticString) {
        self.columns = "\(columns)"
        self.clause = "\(clause)"
    }
}
