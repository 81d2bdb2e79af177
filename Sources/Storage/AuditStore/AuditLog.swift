package import Base
package import Postgres

/// The audit: what staff did, one row an act, each with the hash of the one before. The database appends to it as acts commit
/// (`sql/migrations/0063_audited_acts.sql`); here it is read.
package struct AuditLog: Sendable {
    let pool: PostgresPool

    /// The audit behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) { self.pool = pool }

    /// What the doctor reads, in the rights of users.
    package static let monitored = "audit"
    /// How many parts the cursor of ``list(_:after:limit:)`` has.
    package static let cursorParts = 1
    /// How many rows a page of a list looks through at most.
    package static let window: Int64 = 10_000
    /// How many rows are read at a time where all are.
    static let portion: Int64 = 2000

    /// The last row that was appended.
    package func tail() async throws -> AuditMark {
        let row = try await pool.query(
            PostgresQuery("audit.tail", "select place, hash from storehook.audit_tail")
        ).one()
        return AuditMark(place: try row.decode("place"), hash: try row.decode("hash"))
    }

    /// The rows behind a place, in order.
    /// - Parameter end: the last place that is read.
    package func rows(after place: Int64, through end: Int64, limit: Int64 = AuditLog.portion) async throws
        -> [AuditRow]
    {
        try await pool.query(
            PostgresQuery(
                "audit.rows",
                """
                select \(unescaped: AuditRow.columns)
                  from storehook.audit a left join storehook.audit_texts t using (place)
                 where a.place > \(place) and a.place <= \(end)
                 order by a.place limit \(limit)
                """)
        ).map { try AuditRow($0) }
    }

    /// Rows, the latest first. What is about one account or thing an index finds; otherwise a page looks through ``window`` rows at
    /// most, so that it may have few or none and still have a next one.
    package func list(
        _ filter: AuditFilter, after cursor: ListCursor?, limit: Int
    ) async throws -> ListPage<AuditRow> {
        let place = cursor.flatMap { Int64($0.parts[0]) } ?? .max
        var subject = filter.subject
        if let account = filter.account { subject = ("account", "\(account)") }
        let window: Int64? = subject == nil ? Self.window : nil
        let (from, to) = (filter.from.map { PostgresTimestamp($0) }, filter.to.map { PostgresTimestamp($0) })
        let at = filter.at.map { PostgresTimestamp.end(of: $0) }
        // at never falls from row to row: an instant is a place.
        let rows = try await pool.query(
            PostgresQuery(
                "audit.list",
                """
                with looked as materialized (
                    select * from storehook.audit
                     where place < \(place)
                       and (\(from)::timestamptz is null
                            or place >= (select k.place from storehook.audit k where k.at >= \(from) order by k.at, k.place limit 1))
                       and (\(to)::timestamptz is null
                            or place < coalesce((select k.place from storehook.audit k where k.at >= \(to)
                                                  order by k.at, k.place limit 1), \(Int64.max)))
                       and (\(at)::timestamptz is null
                            or place < coalesce((select k.place from storehook.audit k where k.at > \(at)
                                                  order by k.at, k.place limit 1), \(Int64.max)))
                       \(subject: subject)
                     order by place desc limit \(window)
                )
                select l.count, l.lowest, found.*
                  from (select count(*) as count, min(place) as lowest from looked) l
                  left join lateral (
                    select \(unescaped: AuditRow.columns)
                      from looked a left join storehook.audit_texts t using (place)
                     where (\(filter.actor)::text is null or a.actor = \(filter.actor))
                       and (\(filter.act)::text is null or a.act = \(filter.act))
                       and (\(filter.app)::text is null or a.app = \(filter.app))
                       and (\(filter.apps)::text[] is null or a.app = any (\(filter.apps)))
                       and (\(filter.environment)::text is null or a.environment = \(filter.environment))
                     order by a.place desc limit \(Int64(limit) + 1)) found on true
                 order by found.place desc
                """))
        guard let first = rows.first else { return ListPage() }
        let lowest = try first.decode("lowest", as: Int64?.self)
        let isFull = try first.decode("count", as: Int64.self) == window
        let found = try rows.filter { try $0.decode("place", as: Int64?.self) != nil }.map { try AuditRow($0) }
        if found.count > limit {
            let shown = Array(found.prefix(limit))
            return ListPage(shown, next: shown.last.map { ListCursor(behind: ["\($0.place)"]) })
        }
        guard isFull, let lowest else { return ListPage(found) }
        return ListPage(found, next: ListCursor(behind: ["\(lowest)"]), lookedThrough: window.map { Int($0) })
    }

    /// How many rows have a personal text that was not erased.
    package func textCount() async throws -> Int64 {
        try await pool.query(
            PostgresQuery("audit.texts", "select count(*) from storehook.audit_texts where erased_at is null"),
            deadline: .seconds(600)
        ).one().decode(0)
    }

    /// Puts on record that personal texts were opened, before they are shown.
    /// - Parameters:
    ///   - person: the actor, as acts record it.
    ///   - count: how many texts.
    ///   - isExport: whether they leave storehook as a file.
    ///   - subject: what they belong to: an account by its token, or a list.
    package func noteOpened(
        by person: String, why: String?, count: Int64, isExport: Bool,
        of subject: (kind: String, reference: String) = ("audit", "texts")
    ) async throws {
        try await pool.query(
            PostgresQuery(
                "audit.note_opened",
                """
                select storehook.note_opened_texts(
                       \(String(person.prefix(200))), \(why), \(count), \(isExport), \(subject.kind), \(subject.reference))
                """),
            durably: true)
    }
}

extension PostgresQuery.StringInterpolation {
    fileprivate mutating func appendInterpolation(subject: (kind: String, reference: String)?) {
        guard let subject else { return }
        appendLiteral("and subject_kind = ")
        appendInterpolation(subject.kind)
        appendLiteral(" and subject = ")
        appendInterpolation(subject.reference)
    }
}
