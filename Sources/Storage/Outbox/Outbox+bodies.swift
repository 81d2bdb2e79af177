package import Postgres

extension Outbox {
    /// What was posted, for each of these rows, in their order; nil where retention has dropped it.
    package func bodies(
        of rows: [(id: Int64, receivedAt: PostgresTimestamp)], _ session: borrowing PostgresSession
    ) throws -> [OpenedBody?] {
        guard !rows.isEmpty else { return [] }
        return try headers.open(try session.query(.bodies(rows)).map { try $0.decode(0) }, session)
    }

    /// What was posted; nil where retention has dropped it.
    package func body(of id: Int64, receivedAt: PostgresTimestamp) async throws -> OpenedBody? {
        let stored = try await pool.query(.bodies([(id, receivedAt)])).map { try $0.decode(0, as: StoredBody?.self) }
        return try await headers.open(stored, pool).first ?? nil
    }
}

extension PostgresQuery {
    fileprivate static func bodies(_ rows: [(id: Int64, receivedAt: PostgresTimestamp)]) -> PostgresQuery {
        let (ids, receivedAt) = (rows.map(\.id), rows.map(\.receivedAt))
        return PostgresQuery(
            "outbox.bodies",
            """
            select b.stored
              from unnest(\(ids)) with ordinality as wanted (id, place)
              left join storehook.outbox_bodies(\(ids), \(receivedAt)) b on b.id = wanted.id
             order by wanted.place
            """)
    }
}
