package import Postgres
import Subscriptions

extension Outbox {
    /// The stored evidence of each of these rows, in their order; nil where retention has dropped it.
    package func evidence(
        of rows: [(id: Int64, receivedAt: PostgresTimestamp)], _ session: borrowing PostgresSession
    ) throws -> [OpenedEvidence?] {
        guard !rows.isEmpty else { return [] }
        return try headers.open(try session.query(.bodies(rows)).map { try $0.decode(0) }, session)
    }

    /// A row's stored bytes, whole; nil where retention has dropped them.
    package func body(of id: Int64, receivedAt: PostgresTimestamp) async throws -> OpenedBody? {
        let stored = try await pool.query(.bodies([(id, receivedAt)])).map { try $0.decode(0, as: StoredBody?.self) }
        guard let found = try await headers.open(stored, pool).first ?? nil else { return nil }
        return found.kind == .receipt ? try await receipt(id, receivedAt: receivedAt).map { .success($0) } : found.body
    }

    /// A whole receipt, which batches do not read; nil where there is none.
    package func receipt(_ id: Int64, receivedAt: PostgresTimestamp) async throws -> [UInt8]? {
        try await pool.query(
            PostgresQuery(
                "outbox.receipt",
                "select body from storehook.outbox where received_at = \(receivedAt) and id = \(id) and kind = 4")
        ).first.map { try $0.decode(0) }
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
