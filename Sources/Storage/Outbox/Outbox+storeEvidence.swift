package import Postgres
import Queue
import Subscriptions

extension Outbox {
    /// Stores evidence of any kind and source and queues it, in one commit: when this returns it will be done, whatever
    /// dies. Whether it is known already is found out when it is done.
    /// - Returns: the rows' ids, in the order of the evidence.
    /// - Throws: `PostgresError`; then none of it may be taken for stored. A piece that is longer than its kind may be is
    ///   refused by the schema.
    @discardableResult
    package func store(_ evidence: [Evidence]) async throws -> [Int64] {
        guard !evidence.isEmpty else { return [] }
        if headers.renew(pool.generation) { try? await learnHeaders() }
        var ids = try await pool.query(.store(evidence, knowing: headers.recent), durably: true).map(Self.id)
        if ids.isEmpty {
            headers.forget()
            ids = try await pool.query(.store(evidence, knowing: []), durably: true).map(Self.id)
        }
        await queue.announceNow()
        return ids
    }

    /// The same in the caller's transaction, together with whatever else it stands for: it is durable and announced as that
    /// is (`TransactionOptions.isDurable`, ``Queue/announce()``).
    @discardableResult
    package func store(_ evidence: [Evidence], _ session: borrowing PostgresSession) throws -> [Int64] {
        guard !evidence.isEmpty else { return [] }
        let ids = try session.query(.store(evidence, knowing: headers.recent)).map(Self.id)
        guard ids.isEmpty else { return ids }
        headers.forget()
        return try session.query(.store(evidence, knowing: [])).map(Self.id)
    }

    private static func id(_ row: PostgresRow) throws -> Int64 { try row.decode(0) }
}

extension PostgresQuery {
    /// As the statement for what Apple posts, which costs nothing for this one; answers the ids, and none where a header that
    /// the bodies name is not there: then it has done nothing.
    fileprivate static func store(_ evidence: [Evidence], knowing headers: [SignatureHeader]) -> PostgresQuery {
        // What is no JWS has no header to do without.
        let bodies = evidence.map { StoredBody(packing: $0.bytes, knowing: $0.kind.isJWS ? headers : []) }
        return PostgresQuery(
            "outbox.store_evidence",
            """
            with drawn as materialized (
                select nextval('storehook.outbox_id') as id, now() as received_at, kind, source, packing, body, place
                  from unnest(\(evidence.map(\.kind.number)), \(evidence.map(\.source.number)),
                              \(bodies.map { Int16($0.packing) }), \(bodies.map(\.bytes)))
                       with ordinality as evidence (kind, source, packing, body, place)
                 where not exists (select from unnest(\(Array(Set(bodies.flatMap(\.digests))))) as named (digest)
                                    where not exists (select from storehook.signature_headers h
                                                       where h.digest = named.digest))
            ), stored as (
                insert into storehook.outbox (id, received_at, kind, source, packing, body)
                select id, received_at, kind, source, packing, body from drawn
            ), queued as (
                insert into storehook.outbox_queue (id, received_at, due_at)
                select id, received_at, received_at from drawn
            ), counted as (
                insert into storehook.outbox_stored (rows) select count(*) from drawn having count(*) > 0
            )
            select id, \(unescaped: PostgresQuery.durableSettings) from drawn order by place
            """)
    }
}
