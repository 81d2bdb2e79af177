import Operations
import Postgres

extension Database {
    /// The database user that a command is for, by the rights that it takes.
    enum Login: Sendable {
        /// Who ran `storehook migrate`.
        case owner
        /// A user with the rights of a role, as deploy/logins.sql makes one for each program.
        case role(DatabaseRole)
    }

    /// Runs `body`. A statement that the database user has no right to ends it with the user that the command is for, and what to do.
    /// - Throws: `CommandFailure` in the place of such an error; any other as it is.
    static func explaining<T>(_ pool: PostgresPool, for login: Login, _ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch let error as PostgresError where error.sqlState == "42501" && error.operation != "connect" {
            let user = (try? await ServerSurvey(pool).user()) ?? "the user of DATABASE_URL"
            throw CommandFailure("\(user) may not do this (\(error)): \(await remedy(pool, login))")
        }
    }

    private static func remedy(_ pool: PostgresPool, _ login: Login) async -> String {
        guard case .role(let role) = login,
            let rights = try? await DatabaseRights(of: [role], reading: [], on: pool)
        else { return await ownersRemedy(pool) }
        // Who lacks nothing of the role needs more than the role.
        guard !rights.lacking(for: role).isEmpty else { return await ownersRemedy(pool) }
        let isMember = try? await ServerSurvey(pool).isMember(of: "storehook_\(role)")
        return isMember == true
            ? "the rights of storehook_\(role) are not those of this release; as the owner, run sql/roles.sql again, which lists "
                + "all of them"
            : "it is for storehook-\(role); put that user into DATABASE_URL (sql/roles.sql and deploy/logins.sql make it)"
    }

    private static func ownersRemedy(_ pool: PostgresPool) async -> String {
        let owner = (try? await ServerSurvey(pool).owner()).map { " \($0)" } ?? ""
        return
            "it is for the owner\(owner), who runs storehook migrate; put that user into DATABASE_URL, or on a machine of "
            + "deploy/install type storehook-ops --owner"
    }
}
