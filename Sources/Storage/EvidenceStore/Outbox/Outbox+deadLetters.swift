package import Foundation
import Postgres
import Subscriptions

extension Outbox {
    /// Open dead letters, the oldest first.
    package func deadLetters(_ filter: DeadLetterFilter, limit: Int) async throws -> [DeadLetter] {
        try await pool.query(.openDeadLetters(filter, limit, withBodies: false)).map { try DeadLetter($0) }
    }

    /// Open dead letters with their evidence's bytes (nil where they are gone), the oldest first.
    package func deadLettersWithBodies(
        _ filter: DeadLetterFilter, limit: Int
    ) async throws -> [(letter: DeadLetter, evidence: OpenedEvidence?)] {
        let rows = try await pool.query(.openDeadLetters(filter, limit, withBodies: true))
        let bodies = try await headers.open(rows.map { try $0.decode("stored") }, pool)
        return try zip(rows, bodies).map { (try DeadLetter($0), $1) }
    }

    /// One letter, open or not, with its evidence's bytes (nil where they are gone); nil if no letter has that number.
    /// - Parameter withReceipts: whether a receipt is read, which takes the right to read the outbox.
    package func deadLetter(
        _ id: Int64, withReceipts: Bool = true
    ) async throws -> (letter: DeadLetter, body: OpenedBody?)? {
        let rows = try await pool.query(.deadLetter(id))
        guard let row = rows.first else { return nil }
        let letter = try DeadLetter(row)
        let found = try await headers.open([row.decode("stored")], pool).first ?? nil
        guard let found, found.kind == .receipt else { return (letter, found?.body) }
        guard withReceipts else { return (letter, nil) }
        return (letter, try await receipt(letter.outboxID, receivedAt: letter.receivedAt).map { .success($0) })
    }

    /// The stored bytes of a recorded notification; nil where it is not recorded, and where retention has dropped them.
    package func notificationBody(_ notification: UUID) async throws -> OpenedBody? {
        let row = try await pool.query(
            PostgresQuery(
                "outbox.notification_body", "select storehook.notification_body(\(notification)) as stored")
        ).one()
        let found = try await headers.open([row.decode("stored")], pool).first ?? nil
        return found?.body
    }

    /// The letters about a notification, open or not, the latest 100: their numbers, and why each is one.
    package func deadLetters(about notification: UUID) async throws -> [(id: Int64, reason: String)] {
        try await pool.query(
            PostgresQuery(
                "outbox.dead_letters_about",
                """
                select id, reason from storehook.dead_letters where notification_uuid = \(notification)
                 order by id desc limit 100
                """)
        ).map { (try $0.decode(0), try $0.decode(1)) }
    }

    /// Puts open letters back on the queue, their attempts starting anew, and records who did it. A letter that is not
    /// open is left alone, so replaying twice changes nothing twice.
    /// - Parameters:
    ///   - perSecond: how many become due each second; nil for all at once.
    /// - Returns: the ids of the letters replayed.
    package func replay(
        _ filter: DeadLetterFilter, perSecond: Double?, by who: String, why: String?
    ) async throws -> [Int64] {
        let replayed = try await pool.query(.replay(filter, perSecond, who, why), durably: true)
        if !replayed.isEmpty { await queue.announceNow() }
        return try replayed.map { try $0.decode(0) }
    }

    /// How each of these letters stands; those that there are not are not in it.
    package func standings(of ids: [Int64]) async throws -> [Int64: DeadLetterStanding] {
        let rows = try await pool.query(.standings(ids))
        return Dictionary(try rows.map { (try $0.decode("id"), try DeadLetterStanding($0)) }) { first, _ in first }
    }

    /// Discards open letters, and records who did it and why.
    /// - Returns: the ids of the letters discarded.
    package func discard(_ ids: [Int64], by who: String, why: String) async throws -> [Int64] {
        try await pool.query(.discard(ids, who, why), durably: true).map { try $0.decode(0) }
    }
}

extension DeadLetter {
    init(_ row: PostgresRow) throws {
        self.init(
            id: try row.decode("id"), outboxID: try row.decode("outbox_id"),
            notificationUUID: try row.decode("notification_uuid"), type: try row.decode("type"),
            subtype: try row.decode("subtype"), category: try row.decode("category", among: DeadLetterCategory.self),
            reason: try row.decode("reason"),
            message: try row.decode("message"), attempts: Int(try row.decode("attempts", as: Int16.self)),
            receivedAt: try row.decode("received_at"), deadAt: try row.decode("dead_at"),
            resolution: try row.decode("resolution", among: DeadLetterResolution.self),
            resolvedAt: try row.decode("resolved_at"),
            resolvedBy: try row.decode("resolved_by"), resolvedWhy: try row.decode("resolved_why"),
            kind: try row.decode("kind", among: EvidenceKind.self),
            source: try row.decode("source", among: EvidenceSource.self), bundleID: try row.decode("bundle_id"),
            jobID: try row.decode("job_id"))
    }
}

extension PostgresQuery {
    /// A letter `d`, as ``DeadLetter`` reads it.
    static let letterColumns = """
        d.id, d.outbox_id, d.notification_uuid, d.type, d.subtype, d.category, d.reason, d.message, d.attempts, d.received_at,
        d.dead_at, d.resolution, d.resolved_at, d.resolved_by, d.resolved_why, d.kind, d.source, d.bundle_id, d.job_id
        """

    fileprivate static func openDeadLetters(
        _ filter: DeadLetterFilter, _ limit: Int, withBodies: Bool
    ) -> PostgresQuery {
        PostgresQuery(
            "outbox.dead_letters",
            """
            with letters as materialized (
                select \(unescaped: letterColumns) from storehook.dead_letters d
                 where d.resolution = 'open' and \(letter: "d", fits: filter)
                 order by d.id
                 limit \(limit)
            )
            select letters.*, stored
              from letters
              left join storehook.outbox_bodies(
                   (select array_agg(outbox_id order by id) from letters where \(withBodies)),
                   (select array_agg(received_at order by id) from letters where \(withBodies))) b on b.id = outbox_id
             order by letters.id
            """)
    }

    fileprivate static func deadLetter(_ id: Int64) -> PostgresQuery {
        PostgresQuery(
            "outbox.dead_letter",
            """
            select \(unescaped: letterColumns), storehook.dead_letter_body(d.id) as stored
              from storehook.dead_letters d where d.id = \(id)
            """)
    }

    fileprivate static func standings(_ ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "outbox.dead_letter_standings",
            """
            select l.id, l.resolution, l.resolved_at, l.resolved_by,
                   (select o.id from storehook.dead_letters o where o.outbox_id = l.outbox_id and o.resolution = 'open') as open_as
              from storehook.dead_letters l where l.id = any(\(ids))
            """)
    }

    /// Closing the letter and queueing the row are one statement: the row is never in both places.
    fileprivate static func replay(
        _ filter: DeadLetterFilter, _ perSecond: Double?, _ who: String, _ why: String?
    ) -> PostgresQuery {
        PostgresQuery(
            "outbox.replay",
            """
            with replayed as (
                update storehook.dead_letters d
                   set resolution = 'replayed', resolved_at = now(), resolved_by = \(who), resolved_why = \(why)
                 where d.resolution = 'open' and \(letter: "d", fits: filter)
                returning d.id, d.outbox_id, d.received_at, d.reason
            ), queued as (
                insert into storehook.outbox_queue (id, received_at, due_at, last_reason)
                select outbox_id, received_at,
                       now() + make_interval(secs => (row_number() over (order by id) - 1)
                                                     / coalesce(\(perSecond), 'infinity'::double precision)),
                       reason
                  from replayed
            ), shown as materialized (
                select \(unescaped: PostgresQuery.durableSettings)
            )
            select id from shown left join replayed on true where id is not null order by id
            """)
    }

    fileprivate static func discard(_ ids: [Int64], _ who: String, _ why: String) -> PostgresQuery {
        PostgresQuery(
            "outbox.discard",
            """
            with shown as materialized (
                select \(unescaped: PostgresQuery.durableSettings)
            ), discarded as (
                update storehook.dead_letters
                   set resolution = 'discarded', resolved_at = now(), resolved_by = \(who), resolved_why = \(why)
                 where resolution = 'open' and id = any(\(ids))
                returning id
            )
            select id from shown left join discarded on true where id is not null order by id
            """)
    }
}
