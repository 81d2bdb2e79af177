package import Postgres

extension Outbox {
    /// Stores notifications and queues them, in one commit: when this returns they will be done, whatever dies.
    ///
    /// They are stored without the headers that ``learnHeaders()`` has found; see ``PackedBody``.
    /// - Parameter bodies: the compact JWS of each, byte for byte; at most ``maximumBodySize`` bytes each.
    /// - Throws: `PostgresError`; then none of them may be taken for stored (some failures leave it open).
    package func store(_ bodies: [[UInt8]]) async throws {
        _ = try await pool.query(.store(packed(bodies)))
    }

    /// Bodies as they would be stored now.
    package func packed(_ bodies: [[UInt8]]) -> [StoredBody] {
        let known = headers.recent
        return bodies.map { StoredBody(packing: $0, knowing: known) }
    }
}

extension PostgresQuery {
    /// The one statement of ``Outbox/store(_:)``; its parameters are the bodies' packings and the bodies.
    ///
    /// The ids are drawn first, so that nothing has to be read back: the receiver's role may insert and nothing else.
    package static func store(_ bodies: [StoredBody]) -> PostgresQuery {
        PostgresQuery(
            "outbox.store",
            """
            with drawn as materialized (
                select nextval('storehook.outbox_id') as id, now() as received_at, packing, body
                  from unnest(\(bodies.map { Int16($0.packing) }), \(bodies.map(\.bytes))) as posted (packing, body)
            ), stored as (
                insert into storehook.outbox (id, received_at, packing, body)
                select id, received_at, packing, body from drawn
            ), queued as (
                insert into storehook.outbox_queue (id, received_at, due_at)
                select id, received_at, received_at from drawn
            )
            select pg_notify('storehook_outbox', '')
            """)
    }
}
