package import Base
package import Postgres

/// Jobs: acts on many dead letters at once. The letters are fixed when a job is made; a worker settles them in bounded steps, and another one
/// goes on where it dies.
package struct JobStore: Sendable {
    /// The most letters of one job.
    package static let most: Int64 = 100_000
    /// The most of one that rehearses: it locks the letters' purchases until its end.
    package static let mostRehearsed: Int64 = 5000
    /// The most jobs that wait or run at once.
    static let mostOpen: Int64 = 100
    /// How many open letters are looked through for the letters of one job. Where there are more, it is not made: no job has a part of what
    /// matches without saying so.
    package static let mostLookedThrough: Int64 = 200_000

    let pool: PostgresPool
    /// Jobs that are still to be carried out.
    package let queue: Queue

    static let table = QueueTable(name: "storehook.job_queue", statements: "jobs", channel: "storehook_jobs")

    /// The jobs behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) {
        self.pool = pool
        queue = Queue(Self.table, pool)
    }

    // MARK: Asking

    /// How many letters match a filter.
    package struct Matching: Sendable, Hashable {
        /// How many of those that were looked through.
        package var count: Int64
        /// How many open letters were looked through: the newest ones.
        package var among: Int64
        /// The newest letter there is, whether it matches or not: a job of these letters names it.
        package var upTo: Int64
        /// The evidence of the oldest letter that was looked through, where there are older ones: a job of these letters names it, too.
        /// Nil where all open letters were looked through.
        package var downTo: Int64?
    }

    /// How many open letters match.
    /// - Parameter most: how many are looked through, 1 or more.
    /// - Throws: `PostgresError`.
    package func matching(
        _ filter: DeadLetterFilter, lookingThrough most: Int64 = Outbox.mostLettersLookedThrough
    ) async throws -> Matching {
        let options = TransactionOptions(
            isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: "jobs.matching")
        return try await pool.withTransaction(options) { session -> Matching in
            let newest: Int64 = try session.query(
                PostgresQuery("jobs.newest", "select coalesce(max(id), 0) from storehook.dead_letters")
            ).one().decode(0)
            let row = try session.query(.countMatching(filter, upTo: newest, atMost: most)).one()
            let isMore: Bool = try row.decode("is_more")
            return Matching(
                count: try row.decode("matching"), among: try row.decode("among"), upTo: newest,
                downTo: try isMore ? row.decode("last", as: Int64?.self) : nil)
        }
    }

    /// A job to be made.
    package struct Draft: Sendable, Hashable {
        /// What is to be done.
        package var act: Job.Act
        /// To which letters. Where the count has a ``Matching/downTo``, the filter has it, too.
        package var filter: DeadLetterFilter
        /// Those up to this one: see ``Matching/upTo``.
        package var upTo: Int64
        /// How many were confirmed.
        package var confirmed: Int64
        /// How many a second at most.
        package var perSecond: Int?
        /// Who asks.
        package var actor: String
        /// Why.
        package var why: String?

        /// A job for as many letters as were confirmed.
        package init(
            _ act: Job.Act, _ filter: DeadLetterFilter, upTo: Int64, confirmed: Int64, perSecond: Int? = nil,
            by actor: String, why: String?
        ) {
            self.act = act
            self.filter = filter
            self.upTo = upTo
            self.confirmed = confirmed
            self.perSecond = perSecond
            self.actor = actor
            self.why = why
        }
    }

    /// Makes a job of the letters that match now, if they are as many as were confirmed.
    /// - Parameter lookedThrough: how many open letters are looked through.
    /// - Returns: the job, and how many letters match that came later: these are not in it.
    /// - Throws: ``JobRefusal/changed(matching:)``, ``JobRefusal/tooMany(most:)``, ``JobRefusal/unseen(most:)``, ``JobRefusal/busy``;
    ///   `PostgresError`.
    package func make(
        _ draft: Draft, lookingThrough lookedThrough: Int64 = JobStore.mostLookedThrough
    ) async throws -> (job: Job, later: Int64) {
        let most = draft.act == .rehearse ? Self.mostRehearsed : Self.most
        guard draft.confirmed <= most else { throw JobRefusal.tooMany(most: most) }
        guard draft.confirmed > 0 else { throw JobRefusal.changed(matching: 0) }
        let options = TransactionOptions(isDurable: true, name: "jobs.make")
        let made = try await pool.withTransaction(options) { session in
            let open: Int64 = try session.query(
                PostgresQuery(
                    "jobs.open",
                    "select count(*) from (select j.id from storehook.jobs j where j.ended_at is null limit \(Self.mostOpen)) o"
                )
            ).one().decode(0)
            guard open < Self.mostOpen else { throw JobRefusal.busy }
            let isUnseen: Bool = try session.query(.hasMore(than: lookedThrough, draft)).one().decode(0)
            guard !isUnseen else { throw JobRefusal.unseen(most: lookedThrough) }
            let id: Int64 = try session.query(.insert(draft)).one().decode(0)
            let items = Int64(try session.query(.insertItems(draft, id, lookedThrough, atMost: most + 1)).affectedRows)
            // Thrown, it takes the job back.
            guard items <= most else { throw JobRefusal.tooMany(most: most) }
            guard items == draft.confirmed else { throw JobRefusal.changed(matching: items) }
            try session.query(
                PostgresQuery(
                    "jobs.enqueue",
                    "insert into storehook.job_queue (id, received_at, due_at) values (\(id), now(), now())"))
            let later: Int64 = try session.query(.countLater(draft)).one().decode(0)
            return (job: try Job(session.query(.job(id)).one()), later: later)
        }
        await queue.announceNow()
        return made
    }

    /// A job; nil where none has this number.
    package func job(_ id: Int64) async throws -> Job? {
        try await pool.query(.job(id)).first.map { try Job($0) }
    }

    /// A job once it has ended, or as it stands at a deadline; nil where none has this number.
    package func job(_ id: Int64, endedBy deadline: ContinuousClock.Instant) async throws -> Job? {
        while true {
            guard let job = try await self.job(id), !job.hasEnded, ContinuousClock.now < deadline else {
                return try await self.job(id)
            }
            try await Task.sleep(for: Self.look)
        }
    }

    private static let look = Duration.milliseconds(150)

    /// The parts of a job's ``ListCursor``.
    package static let cursorParts = 1

    /// Jobs, the latest first.
    /// - Parameters:
    ///   - apps: those that staff of these apps asked for; nil for all.
    ///   - instant: those that had been made by then, each as it stood; nil for now. What retention has deleted since is gone.
    ///   - cursor: behind it.
    package func list(
        ofApps apps: [String]? = nil, state: Job.State? = nil, at instant: Timestamp? = nil,
        after cursor: ListCursor? = nil, limit: Int
    ) async throws -> ListPage<Job> {
        let then = instant.map { PostgresTimestamp.end(of: $0) }
        let place = try await pool.place(behind: then, in: "storehook.jobs", by: "created_at")
        let before = min(cursor.flatMap { Int64($0.parts[0]) } ?? .max, place)
        let rows = try await pool.query(
            PostgresQuery(
                "jobs.list",
                """
                select \(unescaped: Job.listedColumns) from storehook.jobs j
                 where j.id < \(before) and (\(then)::timestamptz is null or j.created_at <= \(then))
                   and (\(apps)::text[] is null or j.apps <@ \(apps))
                   and (\(state?.rawValue)::text is null or \(state?.rawValue) = case
                        when \(then)::timestamptz is null or j.ended_at <= \(then) then j.state
                        when j.begun_at <= \(then) then 'running' else 'waiting' end)
                 order by j.id desc limit \(Int64(limit) + 1)
                """))
        let jobs = try rows.prefix(limit).map { try Job($0, then: then) }
        return ListPage(jobs, next: rows.count > limit ? jobs.last.map { ListCursor(behind: ["\($0.id)"]) } : nil)
    }

    /// The letters of a job, in the order of their numbers.
    /// - Parameter instant: what had become of them by then; nil for now.
    package func items(
        of id: Int64, at instant: Timestamp? = nil, after cursor: ListCursor? = nil, limit: Int
    ) async throws -> ListPage<JobItem> {
        let after = cursor.flatMap { Int64($0.parts[0]) } ?? 0
        let then = instant.map { PostgresTimestamp.end(of: $0) }
        let rows = try await pool.query(
            PostgresQuery(
                "jobs.results",
                """
                select i.letter_id, d.reason, d.type,
                       case when \(then)::timestamptz is null or i.ended_at <= \(then) then i.outcome end as outcome,
                       case when \(then)::timestamptz is null or i.ended_at <= \(then) then i.ended_at end as ended_at,
                       case when \(then)::timestamptz is null or d.resolved_at <= \(then) then d.resolution
                            when d.id is not null then 'open' end as resolution
                  from storehook.job_items i left join storehook.dead_letters d on d.id = i.letter_id
                 where i.job_id = \(id) and i.letter_id > \(after)
                 order by i.letter_id limit \(Int64(limit) + 1)
                """))
        let items = try rows.prefix(limit).map { row in
            JobItem(
                letterID: try row.decode("letter_id"), outcome: try row.decode("outcome"),
                endedAt: try row.decode("ended_at"), reason: try row.decode("reason"), type: try row.decode("type"),
                resolution: try row.decode("resolution"))
        }
        return ListPage(
            items, next: rows.count > limit ? items.last.map { ListCursor(behind: ["\($0.letterID)"]) } : nil)
    }

    /// Stops a job: what is settled stays so, the rest is left alone.
    /// - Throws: ``JobRefusal/unknown``, ``JobRefusal/over(_:)``; `PostgresError`.
    package func stop(_ id: Int64, by person: String, why: String) async throws -> Job {
        let stopped = try await pool.query(
            PostgresQuery(
                "jobs.stop",
                """
                with shown as materialized (
                    select \(unescaped: PostgresQuery.durableSettings)
                ), stopped as (
                    update storehook.jobs j
                       set stopped_at = now(), stopped_by = \(String(person.prefix(200))), stopped_why = \(why)
                     where j.id = \(id) and j.ended_at is null and j.stopped_at is null
                    returning j.id
                )
                select stopped.id from shown left join stopped on true where stopped.id is not null
                """), durably: true)
        guard let job = try await self.job(id) else { throw JobRefusal.unknown }
        guard !stopped.isEmpty else { throw JobRefusal.over(job.state) }
        await queue.announceNow()
        return job
    }
}

extension DeadLetterFilter {
    /// As a job keeps it, and as callers read it: what does not restrict is left out. Whose staff asked for it stands beside.
    package var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let ids { members.append(.init("ids", .array(ids.map { .integer($0) }))) }
        if let type { members.append(.init("type", .string(type))) }
        if let reason { members.append(.init("reason", .string(reason))) }
        if let bundleID { members.append(.init("app", .string(bundleID))) }
        if let since { members.append(.init("since", Timestamp(since).json)) }
        if let text { members.append(.init("text", .string(text))) }
        if let downTo { members.append(.init("downTo", .integer(downTo))) }
        return .object(members)
    }
}

extension PostgresQuery {
    static func job(_ id: Int64) -> PostgresQuery {
        PostgresQuery("jobs.job", "select \(unescaped: Job.columns) from storehook.jobs j where j.id = \(id)")
    }

    /// Open letters, the newest ones, and whether each matches. In the order of their evidence, by its index.
    private static func lookedThrough(
        _ filter: DeadLetterFilter, after: Int64 = 0, upTo: Int64 = .max, atMost most: Int64
    ) -> PostgresQuery {
        PostgresQuery(
            "jobs.looked_through",
            """
            select l.id, l.outbox_id, (\(letter: "l", fits: filter)) as matches
              from (select * from storehook.dead_letters
                     where resolution = 'open' and id > \(after) and id <= \(upTo)
                       and (\(filter.ids)::bigint[] is null or id = any(\(filter.ids)))
                       and (\(filter.downTo)::bigint is null or outbox_id >= \(filter.downTo))
                     order by outbox_id desc limit \(most)) l
            """)
    }

    fileprivate static func countMatching(
        _ filter: DeadLetterFilter, upTo newest: Int64, atMost most: Int64
    ) -> PostgresQuery {
        PostgresQuery(
            "jobs.matching",
            """
            with looked as materialized (\(embedding: .lookedThrough(filter, upTo: newest, atMost: most)))
            select count(*) filter (where k.matches) as matching, count(*) as among, min(k.outbox_id) as last,
                   exists (select from storehook.dead_letters d
                            where d.resolution = 'open' and d.id <= \(newest)
                              and (\(filter.ids)::bigint[] is null or d.id = any(\(filter.ids)))
                              and d.outbox_id < (select min(o.outbox_id) from looked o)) as is_more
              from looked k
            """)
    }

    /// Whether there are more letters to look through for a job than so many.
    fileprivate static func hasMore(than most: Int64, _ draft: JobStore.Draft) -> PostgresQuery {
        PostgresQuery(
            "jobs.unseen",
            """
            select exists (
                select from storehook.dead_letters
                 where resolution = 'open' and id <= \(draft.upTo)
                   and (\(draft.filter.ids)::bigint[] is null or id = any(\(draft.filter.ids)))
                   and (\(draft.filter.downTo)::bigint is null or outbox_id >= \(draft.filter.downTo))
                 order by outbox_id desc offset \(most) limit 1)
            """)
    }

    fileprivate static func insert(_ draft: JobStore.Draft) -> PostgresQuery {
        PostgresQuery(
            "jobs.insert",
            """
            insert into storehook.jobs (act, filter, apps, up_to, per_second, total, actor, why)
            values (\(draft.act.rawValue), \(PostgresJSON(draft.filter.json.bytes)), \(draft.filter.apps), \(draft.upTo),
                    \(draft.perSecond.map { Int32(clamping: $0) }), \(Int32(clamping: draft.confirmed)),
                    \(String(draft.actor.prefix(200))), \(draft.why))
            returning id
            """)
    }

    fileprivate static func insertItems(
        _ draft: JobStore.Draft, _ id: Int64, _ lookedThrough: Int64, atMost most: Int64
    ) -> PostgresQuery {
        PostgresQuery(
            "jobs.insert_items",
            """
            with looked as (\(embedding: .lookedThrough(draft.filter, upTo: draft.upTo, atMost: lookedThrough)))
            insert into storehook.job_items (job_id, letter_id)
            select \(id), k.id from looked k where k.matches limit \(most)
            """)
    }

    fileprivate static func countLater(_ draft: JobStore.Draft) -> PostgresQuery {
        PostgresQuery(
            "jobs.count_later",
            """
            with looked as (\(embedding: .lookedThrough(draft.filter, after: draft.upTo, atMost: 10_000)))
            select count(*) from looked k where k.matches
            """)
    }
}
