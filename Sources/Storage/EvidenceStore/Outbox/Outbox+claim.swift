package import Postgres

extension Outbox {
    /// Claims up to `limit` due notifications with their bytes; see ``Queue/claim(_:for:from:joining:_:)``.
    package func claim(
        _ limit: Int, for lease: Lease, from floor: PostgresTimestamp? = nil
    ) async throws -> ClaimedNotifications {
        try await queue.claim(limit, for: lease, from: floor, joining: Self.bodies) { rows in
            try await headers.open(rows.map { try $0.decode("stored") }, pool)
        }
    }

    /// The stored bytes of the claimed rows.
    private static let bodies = ClaimJoin(
        columns: "b.stored",
        clause: """
            left join storehook.outbox_bodies(
                 (select array_agg(id order by id) from claimed),
                 (select array_agg(received_at order by id) from claimed)) b on b.id = c.id
            """)
}
