import AppStorePayloads
package import Base
package import Postgres

/// The overview: rows of a ring that workers write, and that consoles read by their places.
///
/// Nothing in it is counted by looking through tables. Workers add up what they do; how the pipeline stands is read from indexes, at most
/// ``mostCounted`` entries of each, and ``mostReceived`` of what was stored since the row before.
package struct OverviewStore: Sendable {
    /// The most rows of one kind that are counted: beyond that an overview says "more than 10,000".
    package static let mostCounted: Int64 = 10_000
    /// Likewise, of what was stored in a slot of five seconds.
    package static let mostReceived: Int64 = 20_000
    /// Between two rows of the ring, by the database's clock.
    package static let interval = Duration.seconds(5)
    /// The slots of the last hour, a row each five seconds; and of the last day, a row each five minutes.
    package static let slots = (hour: 720, day: 288)

    let pool: PostgresPool

    /// The overview behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    // MARK: Writing

    /// Adds what a worker did, and writes the ring's next row where one is due. One worker at a time does that; a worker that comes
    /// meanwhile waits for it only if it has something to add.
    /// - Returns: whether it wrote a row.
    /// - Throws: `PostgresError`; then nothing was added.
    package func note(_ count: WorkTally.Count) async throws -> Bool {
        let options = TransactionOptions(idleTimeout: .seconds(10), goesByIndexes: true, name: "overview.note")
        return try await pool.withTransaction(options) { session in
            if !count.isEmpty { try session.query(.add(count)) }
            guard let turn = try session.query(.takeTurn).first else { return false }
            let now: PostgresTimestamp = try turn.decode("now")
            let before: PostgresTimestamp? = try turn.decode("sampled_at")
            let window = OverviewWindow(now, after: before)
            try session.query(.write(window))
            if window.endsFiveMinutes { try session.query(.writeFiveMinutes(at: now)) }
            if try turn.decode("is_detail_due") { try session.query(.writeDetail) }
            return true
        }
    }

    // MARK: Reading

    /// The latest row of the ring, now or at an instant of the past.
    package struct Latest: Sendable {
        /// The database's clock.
        package var now: PostgresTimestamp
        /// The row; nil before any worker has written one.
        package var sample: OverviewSample?
        /// What changes more slowly; nil likewise, and at an instant of the past: it is not kept.
        package var detail: OverviewDetail?
        /// The jobs that are not done yet, by their numbers; none of an instant of the past.
        package var jobs: [OpenJob]
        /// Those of the members who were asked about that are staff still: the apps of each, nil for all.
        package var members: [Int64: [String]?]
        /// The instant of the past that it is of; nil for now.
        package var instant: PostgresTimestamp?
        /// The oldest row of the ring; nil without any, and for now.
        package var begins: PostgresTimestamp?

        /// Whether the row is not much older than the interval between two: else no worker ran, or none reached the database.
        package var isCurrent: Bool {
            guard let sample else { return false }
            // A row of five minutes is written when they are over.
            let age = OverviewStore.mostAge + (sample.interval > OverviewStore.interval ? sample.interval : .zero)
            return sample.at >= (instant ?? now).adding(.zero - age)
        }
    }

    /// A job that is not done yet, and how far it is.
    package struct OpenJob: Sendable, Hashable {
        /// Its number.
        package var id: Int64
        /// What is done.
        package var act: Job.Act
        /// How far it is.
        package var state: Job.State
        /// How many letters it has.
        package var total: Int64
        /// How many were settled.
        package var done: Int64
        /// How many had been settled before by other acts.
        package var skipped: Int64
        /// The apps of the staff who asked for it; nil for all.
        package var apps: [String]?

        /// Reads what the statement has written; nil for what this release does not know.
        fileprivate init?(_ object: JSONObject) {
            guard let id = object.integer("id"), let act = object.string("act").flatMap({ Job.Act(rawValue: $0) }),
                let state = object.string("state").flatMap({ Job.State(rawValue: $0) }),
                let total = object.integer("total"), let done = object.integer("done"),
                let skipped = object.integer("skipped")
            else { return nil }
            (self.id, self.act, self.state) = (id, act, state)
            (self.total, self.done, self.skipped) = (total, done, skipped)
            apps = object.strings("apps")
        }
    }

    /// A row that is older says that no worker writes.
    private static let mostAge = Duration.seconds(30)

    /// Reads the latest row, by its key, the jobs that are not done yet, and which of some members of the staff are that still: one statement
    /// for all who look on.
    package func latest(watchedBy members: [Int64] = []) async throws -> Latest {
        let row = try await pool.query(.latest(members)).one()
        func objects(_ column: String) throws -> [JSONObject] {
            let json: PostgresJSON = try row.decode(column)
            guard let elements = try? JSONDocument(json.bytes).root.elements else {
                throw PostgresError(.decoding, "\(column) is no list", operation: "overview.latest")
            }
            return elements.compactMap(\.object)
        }
        var staff: [Int64: [String]?] = [:]
        for member in try objects("members") {
            guard let id = member.integer("id") else { continue }
            let isOfAll = member["apps"]?.isNull ?? false
            staff[id] = .some(isOfAll ? nil : member.strings("apps") ?? [])
        }
        let hasSample = try row.decode("at", as: PostgresTimestamp?.self) != nil
        return Latest(
            now: try row.decode("now"), sample: hasSample ? try OverviewSample(row) : nil,
            detail: try OverviewDetail(row), jobs: try objects("jobs").compactMap { OpenJob($0) }, members: staff)
    }

    /// The rows of an hour, or of a day, the oldest first.
    /// - Parameter instant: when that ends; nil for now. The ring has what is left of it.
    package func series(ofDay isOfDay: Bool, endingAt instant: Timestamp? = nil) async throws -> [OverviewSample] {
        let end = instant.map { PostgresTimestamp.end(of: $0) }
        return try await pool.query(
            PostgresQuery(
                "overview.series",
                """
                select \(unescaped: PostgresQuery.overviewColumns) from storehook.overview_ring r
                 where r.seconds = \(Int16(isOfDay ? 300 : 5))
                   and r.at > coalesce(\(end), now()) - make_interval(hours => \(Int32(isOfDay ? 24 : 1)))
                   and r.at <= coalesce(\(end), now())
                 order by r.at
                """)
        ).map { try OverviewSample($0) }
    }
}

/// The time that a row of the ring counts.
struct OverviewWindow: Sendable, Hashable {
    /// When the row is written.
    let now: PostgresTimestamp
    /// What was stored from here on is counted,
    let start: PostgresTimestamp
    /// up to here: a transaction that stores evidence dates it by its beginning and commits within a moment.
    let end: PostgresTimestamp
    /// Whether the row before was of the five minutes before.
    let endsFiveMinutes: Bool

    private static let lag = Duration.seconds(1)
    /// After a longer pause only the last interval is counted: what was stored meanwhile was stored at no rate of now.
    private static let longest = Duration.seconds(60)

    /// - Parameter before: when the row before was written; nil for none.
    init(_ now: PostgresTimestamp, after before: PostgresTimestamp?) {
        self.now = now
        end = now.adding(.zero - Self.lag)
        // A row of the future is that of a clock that was set back since.
        let isGoingOn = before.map { $0 < now && $0 >= now.adding(.zero - Self.longest) } ?? false
        if isGoingOn, let before {
            start = before.adding(.zero - Self.lag)
        } else {
            start = end.adding(.zero - OverviewStore.interval)
        }
        endsFiveMinutes = before.map { Self.number(of: $0, 300) != Self.number(of: now, 300) } ?? false
    }

    /// The slot of a row.
    func slot(of seconds: Int64, among count: Int) -> Int16 {
        Int16(clamping: Self.number(of: now, seconds) % Int64(count))
    }

    /// In milliseconds.
    var span: Int32 { Int32(clamping: max(1, end.millisecondsSince1970 - start.millisecondsSince1970)) }

    private static func number(of instant: PostgresTimestamp, _ seconds: Int64) -> Int64 {
        max(0, instant.millisecondsSince1970) / (seconds * 1000)
    }
}

extension PostgresQuery {
    /// What a row of the ring has beside its slot, in its order there.
    private static let overviewNames = [
        "at", "span_ms", "received", "recorded", "duplicates", "buried", "apple_count", "apple_ms", "apple_longest_ms",
        "own_count", "own_ms", "own_longest_ms", "ready", "scheduled", "leased", "dead", "ready_age_ms",
        "scheduled_age_ms", "leased_age_ms", "dead_age_ms", "unplaced", "event_age_ms", "endpoints", "paused",
        "disabled", "behind", "lanes", "undelivered", "delivery_age_ms",
    ]

    /// A row of the ring `r`, as ``OverviewSample`` reads it.
    static let overviewColumns = (["seconds"] + overviewNames).map { "r.\($0)" }.joined(separator: ", ")

    private static let overviewInsert = """
        insert into storehook.overview_ring (seconds, slot, \(overviewNames.joined(separator: ", ")))
        """

    private static let overviewConflict = """
        on conflict (seconds, slot) do update
        set (\(overviewNames.joined(separator: ", "))) = (\(overviewNames.map { "excluded.\($0)" }.joined(separator: ", ")))
        """

    fileprivate static func add(_ count: WorkTally.Count) -> PostgresQuery {
        PostgresQuery(
            "overview.add",
            """
            update storehook.overview_state
               set recorded = recorded + \(count.recorded), duplicates = duplicates + \(count.duplicates),
                   buried = buried + \(count.buried), apple_count = apple_count + \(count.apple.count),
                   apple_ms = apple_ms + \(count.apple.milliseconds),
                   apple_longest_ms = greatest(apple_longest_ms, \(count.apple.longest)),
                   own_count = own_count + \(count.own.count), own_ms = own_ms + \(count.own.milliseconds),
                   own_longest_ms = greatest(own_longest_ms, \(count.own.longest))
            """)
    }

    /// Locks the state where a row is due; no row where it is not, or another worker has it. A row of the future is that of a clock that was
    /// set back since.
    fileprivate static let takeTurn = PostgresQuery(
        "overview.take_turn",
        """
        select clock_timestamp() as now, sampled_at,
               detail_at is null or detail_at <= clock_timestamp() - interval '30 seconds'
               or detail_at > clock_timestamp() as is_detail_due
          from storehook.overview_state
         where sampled_at is null or sampled_at <= clock_timestamp() - interval '5 seconds'
            or sampled_at > clock_timestamp()
           for update skip locked
        """)

    /// What was stored is counted between two instants that the plan knows, so that one or two partitions are looked at.
    fileprivate static func write(_ window: OverviewWindow) -> PostgresQuery {
        let (now, slot) = (window.now, window.slot(of: 5, among: OverviewStore.slots.hour))
        return PostgresQuery(
            "overview.write",
            """
            with done as (
                select * from storehook.overview_state
            ), written as (
                \(unescaped: overviewInsert)
                select 5, \(slot), \(now), \(window.span),
                       (select count(*) from (
                            select o.id from storehook.outbox o
                             where o.received_at >= \(window.start) and o.received_at < \(window.end)
                             limit \(OverviewStore.mostReceived + 1)) o),
                       d.recorded, d.duplicates, d.buried, d.apple_count, d.apple_ms, d.apple_longest_ms,
                       d.own_count, d.own_ms, d.own_longest_ms,
                       n.ready, n.scheduled, n.leased, n.dead,
                       \(unescaped: age(of: "n.oldest_ready")), \(unescaped: age(of: "n.oldest_scheduled")),
                       \(unescaped: age(of: "n.oldest_leased")), \(unescaped: age(of: "n.oldest_dead")),
                       n.unplaced, \(unescaped: age(of: "n.event_due_at")),
                       n.endpoints, n.paused, n.disabled, n.behind, n.lanes, n.undelivered,
                       \(unescaped: age(of: "n.oldest_delivery"))
                  from done d cross join storehook.overview_now n
                \(unescaped: overviewConflict)
            )
            update storehook.overview_state
               set (recorded, duplicates, buried, apple_count, apple_ms, apple_longest_ms, own_count, own_ms, own_longest_ms)
                   = (0, 0, 0, 0, 0, 0, 0, 0, 0),
                   slot = \(slot), sampled_at = \(now)
            """)
    }

    /// Milliseconds since an instant; 0 where there is none, or it is to come.
    private static func age(of instant: String) -> String {
        "greatest(0, coalesce(extract(epoch from clock_timestamp() - \(instant)) * 1000, 0))::bigint"
    }

    /// Sums what was done in the last five minutes, and takes the highest of what stood. The slot is that of the five minutes that are over.
    fileprivate static func writeFiveMinutes(at now: PostgresTimestamp) -> PostgresQuery {
        let over = OverviewWindow(now.adding(.seconds(-300)), after: nil)
        let sums = [
            "received", "recorded", "duplicates", "buried", "apple_count", "apple_ms", "own_count", "own_ms",
        ]
        let columns = overviewNames.dropFirst().map { name in
            switch name {
            case "span_ms": "sum(r.span_ms)::integer"
            case _ where sums.contains(name): "sum(r.\(name))::bigint"
            default: "max(r.\(name))"
            }
        }
        return PostgresQuery(
            "overview.write_five_minutes",
            """
            \(unescaped: overviewInsert)
            select 300, \(over.slot(of: 300, among: OverviewStore.slots.day)), max(r.at), \(unescaped: columns.joined(separator: ", "))
              from storehook.overview_ring r
             where r.seconds = 5 and r.at > \(now.adding(.seconds(-300))) and r.at <= \(now)
            having count(*) > 0
            \(unescaped: overviewConflict)
            """)
    }

    /// Instants are milliseconds since 1970: how JSON has them otherwise is a setting of the session.
    fileprivate static let writeDetail = PostgresQuery(
        "overview.write_detail",
        """
        update storehook.overview_state
           set detail_at = clock_timestamp(),
               detail = json_build_object(
                   'apps', (select coalesce(json_agg(json_build_object(
                                'app', bundle_id, 'environment', environment,
                                'proven_until', (extract(epoch from p.proven_until) * 1000)::bigint,
                                'canary_applied_at', (extract(epoch from c.applied_at) * 1000)::bigint,
                                'canary_missing_since', (extract(epoch from c.missing_since) * 1000)::bigint,
                                'canary_outcome', c.latest_outcome) order by bundle_id, environment), '[]')
                              from storehook.proven_until p full join storehook.canary_status c using (bundle_id, environment)),
                   'lapsed', (select coalesce(json_agg(json_build_object(
                                  'worker', l.lease_owner, 'since', (extract(epoch from l.due_at) * 1000)::bigint)
                                  order by l.due_at), '[]')
                                from (select q.lease_owner, q.due_at
                                        from (select lease_owner, lease_token, due_at from storehook.outbox_queue
                                               where due_at <= now() order by due_at, id limit 10001) q
                                       where q.lease_token is not null order by q.due_at limit 20) l))
        """)

    fileprivate static func latest(_ members: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "overview.latest",
            """
            select clock_timestamp() as now, s.detail, s.detail_at, \(unescaped: overviewColumns),
                   (select coalesce(json_agg(json_build_object('id', m.id, 'apps', m.apps)), '[]')
                      from storehook.staff_members m where m.id = any(\(members)) and m.removed_at is null) as members,
                   (select coalesce(json_agg(json_build_object(
                               'id', j.id, 'act', j.act, 'state', j.state, 'total', j.total, 'done', j.done,
                               'skipped', j.skipped, 'apps', j.apps) order by j.id), '[]')
                      from storehook.jobs j where j.ended_at is null) as jobs
              from storehook.overview_state s
              left join storehook.overview_ring r on r.seconds = 5 and r.slot = s.slot
            """
        ).keepingPlan()
    }
}

extension OverviewDetail {
    /// Reads the columns detail and detail_at; nil where they are null.
    fileprivate init?(_ row: PostgresRow) throws {
        guard let at = try row.decode("detail_at", as: PostgresTimestamp?.self),
            let json = try row.decode("detail", as: PostgresJSON?.self)
        else { return nil }
        guard let object = try? JSONDocument(json.bytes).object else {
            throw PostgresError(.decoding, "overview_state.detail is no object", operation: "overview.latest")
        }
        self.at = at
        apps = (object["apps"]?.elements ?? []).compactMap { element in
            guard let app = element.object, let bundleID = app.string("app"),
                let environment = app.string("environment")
            else { return nil }
            return App(
                bundleID: bundleID, environment: environment,
                provenUntil: app.integer("proven_until").map(Timestamp.init(millisecondsSince1970:)),
                canaryAppliedAt: app.integer("canary_applied_at").map(Timestamp.init(millisecondsSince1970:)),
                canaryMissingSince: app.integer("canary_missing_since").map(Timestamp.init(millisecondsSince1970:)),
                canaryOutcome: app.string("canary_outcome"))
        }
        lapsed = (object["lapsed"]?.elements ?? []).compactMap { element in
            guard let lease = element.object, let worker = lease.string("worker"), let since = lease.integer("since")
            else { return nil }
            return LapsedLease(worker: worker, since: Timestamp(millisecondsSince1970: since))
        }
    }
}
