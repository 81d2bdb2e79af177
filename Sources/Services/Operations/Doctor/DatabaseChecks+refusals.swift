import EvidenceStore
import Postgres

extension DatabaseChecks {
    /// What PostgreSQL refuses to have settled.
    func refusals() async throws -> Finding.Answer {
        let groups = try await RefusedRows(pool).groups()
        guard !groups.isEmpty else { return .ok("the database takes whatever is settled") }
        let kinds = groups.prefix(4).map { group in
            let names = [group.table, group.constraint].filter { !$0.isEmpty }.joined(separator: ", ")
            return "\(group.count) for \(group.age.age), \(group.reason)\(names.isEmpty ? "" : " at \(names)"): "
                + group.message
        }
        return .failed(
            "it refuses notifications (\(kinds.joined(separator: "; "))): look in its log, and for a trigger, a constraint, an index or "
                + "a right that somebody changed; they wait, and go on once that is put right")
    }
}
