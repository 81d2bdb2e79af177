package import Postgres

/// The keys with which the operator's own servers call the account API.
package struct ServerKeys: Sendable {
    private let pool: PostgresPool

    /// The keys behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// How many valid keys are read at a time; an operator with more should revoke some.
    package static let most = 1000

    /// Records a new key.
    /// - Parameters:
    ///   - name: what it is for; 1 to 100 characters.
    ///   - person: who makes it.
    ///   - show: called before the commit; where it throws, nothing is added.
    @discardableResult
    package func add(
        _ key: ServerKey, name: String, by person: String,
        showing show: @Sendable (RecordedServerKey) throws -> Void = { _ in }
    ) async throws -> RecordedServerKey {
        let addition = PostgresQuery(
            "server_key.add",
            """
            insert into storehook.server_keys (digest, name, created_by)
            values (\(key.digest), \(name), \(String(person.prefix(200))))
            returning *
            """)
        return try await pool.withTransaction(.showing("server_key.add")) { session in
            let recorded = try RecordedServerKey(session.query(addition).one())
            try show(recorded)
            return recorded
        }
    }

    /// Revokes a key for ever. Running account APIs notice within seconds.
    /// - Returns: the key, with the person who revoked it first; nil where no key has this number.
    package func revoke(_ id: Int64, by person: String) async throws -> RecordedServerKey? {
        try await pool.query(
            PostgresQuery(
                "server_key.revoke",
                """
                update storehook.server_keys
                   set revoked_by = coalesce(revoked_by, \(String(person.prefix(200)))),
                       revoked_at = coalesce(revoked_at, now())
                 where id = \(id)
                returning *
                """)
        ).first.map { try RecordedServerKey($0) }
    }

    /// All keys ever made, the latest first.
    package func list() async throws -> [RecordedServerKey] {
        try await pool.query(
            PostgresQuery("server_key.list", "select * from storehook.server_keys order by id desc limit \(Self.most)")
        ).map { try RecordedServerKey($0) }
    }

    /// The valid keys.
    package func valid() async throws -> [RecordedServerKey] {
        try await pool.query(
            PostgresQuery(
                "server_key.valid",
                "select * from storehook.server_keys where revoked_at is null order by id desc limit \(Self.most)")
        ).map { try RecordedServerKey($0) }
    }

    /// Records that these were used, each at most once an hour: a row that every request writes would be a queue.
    package func noteUse(of ids: [Int64]) async throws {
        guard !ids.isEmpty else { return }
        try await pool.query(
            PostgresQuery(
                "server_key.used",
                """
                update storehook.server_keys set last_used_at = now()
                 where id = any(\(ids)) and (last_used_at is null or last_used_at < now() - interval '1 hour')
                """))
    }
}
