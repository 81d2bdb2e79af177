import AuditStore
import Base
import Postgres

extension DatabaseChecks {
    /// How many of the audit's last rows are held against each other: all would take the longer the older a database is. What is before
    /// them `storehook audit verify` finds.
    private static let audited: Int64 = 5000

    /// Whether the audit's last rows are what was written.
    func audit() async throws -> Finding.Answer {
        let found = try await AuditLog(pool).verify(last: Self.audited)
        if let fault = found.fault {
            return .failed(
                "\(fault): no program's user has this right, so look for connections as the owner of the schema, or as a superuser; storehook audit "
                    + "verify --since EXPORT says what an earlier export had")
        }
        return .ok(
            found.last.place == 0
                ? "nothing is on record" : "the last \(found.count) of \(found.last.place) rows are what was written")
    }
}
