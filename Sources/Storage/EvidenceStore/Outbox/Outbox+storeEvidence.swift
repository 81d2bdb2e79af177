package import Postgres
import Subscriptions

extension Outbox {
    /// Stores evidence of any kind and source and queues it, in one commit: when this returns it will be processed,
    /// whatever process dies. Duplicates are found only then.
    /// - Returns: the rows' ids, in the order of the evidence.
    /// - Throws: `PostgresError`; then none of it counts as stored. The schema refuses a piece that is longer than its
    ///   kind may be.
    @discardableResult
    package func store(_ evidence: [Evidence]) async throws -> [Int64] {
        guard !evidence.isEmpty else { return [] }
        if headers.renew(pool.generation) { try? await learnHeaders() }
        var rows = try await pool.query(.store(evidence, .queued, knowing: headers.recent), durably: true)
        if rows.isEmpty {
            headers.forget()
            rows = try await pool.query(.store(evidence, .queued, knowing: []), durably: true)
        }
        await queue.announceNow()
        return try rows.map { try $0.decode(0) }
    }

    /// Likewise in the caller's transaction, together with its other writes: durability
    /// (`TransactionOptions.isDurable`) and announcement (``Queue/announce()``) are the caller's.
    @discardableResult
    package func store(_ evidence: [Evidence], _ session: borrowing PostgresSession) throws -> [Int64] {
        try store(evidence, .queued, session).map(\.id)
    }

    /// Stores evidence that the caller settles in the same transaction, and queues nothing: no worker ever sees it.
    /// The caller must record each row or record it as a duplicate, or conservation counts it as missing.
    /// - Returns: the rows' ids and when they count as received, in the order of the evidence.
    package func storeSettled(
        _ evidence: [Evidence], _ session: borrowing PostgresSession
    ) throws -> [(id: Int64, receivedAt: PostgresTimestamp)] {
        try store(evidence, .settled, session)
    }

    private func store(
        _ evidence: [Evidence], _ purpose: StoringPurpose, _ session: borrowing PostgresSession
    ) throws -> [(id: Int64, receivedAt: PostgresTimestamp)] {
        guard !evidence.isEmpty else { return [] }
        var rows = try session.query(.store(evidence, purpose, knowing: headers.recent))
        if rows.isEmpty {
            headers.forget()
            rows = try session.query(.store(evidence, purpose, knowing: []))
        }
        return try rows.map { (id: try $0.decode(0), receivedAt: try $0.decode(1)) }
    }
}

/// What settles the stored evidence.
private enum StoringPurpose {
    /// A worker.
    case queued
    /// The transaction that stores it.
    case settled

    var name: String {
        switch self {
        case .queued: "outbox.store_evidence"
        case .settled: "outbox.store_settled"
        }
    }

    /// What else is written for it.
    var clause: String {
        switch self {
        case .queued:
            """
            , queued as (
                insert into storehook.outbox_queue (id, received_at, due_at)
                select id, received_at, received_at from drawn
            )
            """
        case .settled: ""
        }
    }
}

extension PostgresQuery {
    /// Like the statement for what Apple posts, which is separate so that it pays nothing for this one. Returns the
    /// rows; none where a header that the bodies name is missing: then it has done nothing.
    fileprivate static func store(
        _ evidence: [Evidence], _ purpose: StoringPurpose, knowing headers: [SignatureHeader]
    ) -> PostgresQuery {
        // Only a JWS has a header to leave out.
        let bodies = evidence.map { StoredBody(packing: $0.bytes, knowing: $0.kind.isJWS ? headers : []) }
        return PostgresQuery(
            purpose.name,
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
            )\(unescaped: purpose.clause), counted as (
                insert into storehook.outbox_stored (rows) select count(*) from drawn having count(*) > 0
            )
            select id, received_at, \(unescaped: PostgresQuery.durableSettings) from drawn order by place
            """)
    }
}
