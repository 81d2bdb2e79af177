package import Base
package import Postgres
package import Subscriptions

/// Ends that Apple was to report, and about which nothing was heard: the first sign that Apple's posts do not arrive.
///
/// - Due is each end of a paid period, a free trial, a grace period or the sixty days of tries to charge, in Production. A period and a trial
///   are due unless Apple said before their end that auto-renew is off. Where a plan took another one's place, or Apple refunded, the period
///   did not come to its end.
/// - An end is unheard of where, since 24 hours before it, nothing that Apple signed was stored about the subscription, and Apple was not asked
///   about it. Apple charges up to a day ahead. What counts as asked: a refresh that Apple answered (`refreshes`), and what verifyReceipt said.
/// - Within an hour of its end nothing is counted.
/// - Counted apart: subscriptions whose evidence was all stored by hand, by operators, and about which Apple has said nothing since.
///
/// A worker counts (``count(at:restingAtLeast:)``); everything else reads what was counted.
package struct DueEnds: Sendable {
    let pool: PostgresPool
    /// How long grace lasts where Apple gives it no date.
    let graceDays: Int64

    /// The ends behind a pool of connections. One is enough.
    /// - Parameter policy: by which statuses were derived. It matters where ends are counted.
    package init(_ pool: PostgresPool, policy: StatusPolicy = .usual) {
        self.pool = pool
        graceDays = policy.graceDays
    }

    /// How many ends are listed of each part, the latest ones.
    static let mostListed: Int64 = 10_000
    /// How many parts a cursor of ``list(_:after:limit:)`` has.
    package static let cursorParts = 4
}

/// An end about which nothing was heard.
package struct UnheardEnd: Sendable, Hashable {
    /// What ended.
    package enum Kind: String, Sendable, Hashable, CaseIterable, JSONConvertible {
        /// A period that was paid for.
        case renewal
        /// A free trial.
        case trial
        /// A grace period.
        case gracePeriod = "grace_period"
        /// The sixty days for which Apple tries to charge.
        case billingRetry = "billing_retry"
    }

    /// When.
    package var endsAt: PostgresTimestamp
    /// The class of ages that it was counted in.
    package var age: DueAge
    /// What ended.
    package var kind: Kind
    /// The app.
    package var bundleID: String
    /// The subscription.
    package var originalTransactionID: String
    /// Apple's id of what was subscribed to.
    package var productID: String?
    /// Whether operators imported the subscription, and nothing was ever heard of it.
    package var isImported: Bool
}

/// Which of them are asked for. Nil is any.
package struct DueFilter: Sendable, Hashable {
    /// So long ago.
    package var age: DueAge?
    /// Of these apps, by their bundle ids.
    package var apps: Set<String>?
    /// Of imported subscriptions, or of the others.
    package var isImported: Bool?

    /// All.
    package init() {}
}

extension DueEnds {
    /// What was counted last, the latest end first: of each part up to 10,000.
    /// - Parameters:
    ///   - cursor: behind it; one that is none of this list's begins anew, see ``isCursor(_:)``.
    ///   - limit: the most to return, 1 or more.
    /// - Throws: `PostgresError`.
    package func list(
        _ filter: DueFilter = DueFilter(), after cursor: ListCursor? = nil, limit: Int
    ) async throws -> ListPage<UnheardEnd> {
        let mark = cursor.flatMap { DueMark($0) }
        let apps = filter.apps.map { $0.sorted() }
        let rows = try await pool.query(
            PostgresQuery(
                "due.list",
                """
                select ends_at, age, kind, bundle_id, original_transaction_id, product_id, is_imported
                  from storehook.due_unheard
                 where (\(filter.age?.rawValue)::text is null or age = \(filter.age?.rawValue))
                   and (\(apps == nil) or bundle_id = any (\(apps ?? [])))
                   and (\(filter.isImported)::boolean is null or is_imported = \(filter.isImported))
                   and (\(mark == nil) or (ends_at, bundle_id, original_transaction_id, kind)
                       < (\(mark?.endsAt)::timestamptz, \(mark?.bundleID ?? ""), \(mark?.originalTransactionID ?? ""),
                          \(mark?.kind ?? "")))
                 order by ends_at desc, bundle_id desc, original_transaction_id desc, kind desc
                 limit \(Int64(limit + 1))
                """))
        let found = try rows.prefix(limit).map { try UnheardEnd($0) }
        return ListPage(found, next: rows.count > limit ? found.last.map { DueMark($0).cursor } : nil)
    }

    /// Whether a cursor is one of this list.
    package static func isCursor(_ cursor: ListCursor) -> Bool { DueMark(cursor) != nil }
}

extension UnheardEnd {
    fileprivate init(_ row: PostgresRow) throws {
        endsAt = try row.decode("ends_at")
        age = try row.decode("age", among: DueAge.self)
        kind = try row.decode("kind", among: Kind.self)
        bundleID = try row.decode("bundle_id")
        originalTransactionID = try row.decode("original_transaction_id")
        productID = try row.decode("product_id")
        isImported = try row.decode("is_imported")
    }
}

extension DueEnds: MonitoredStore {
    /// See ``counts(of:)``.
    package static let monitored = "due_counts"

    /// What was due and is not heard of, by age; none before the first count.
    package func samples() async throws -> [MetricSample] {
        let counts = try await counts()
        return counts.lines.compactMap { line in
            line.unheard.map { MetricSample("storehook_due_unheard", [("age", line.age.rawValue)], Double($0)) }
        } + (counts.due.map { [MetricSample("storehook_due_lines", [], Double($0))] } ?? [])
    }
}

/// A place in the list of ends.
private struct DueMark {
    var endsAt: PostgresTimestamp
    var bundleID: String
    var originalTransactionID: String
    var kind: String

    init(_ end: UnheardEnd) {
        (endsAt, bundleID) = (end.endsAt, end.bundleID)
        (originalTransactionID, kind) = (end.originalTransactionID, end.kind.rawValue)
    }

    init?(_ cursor: ListCursor) {
        guard cursor.parts.count == DueEnds.cursorParts, let microseconds = Int64(cursor.parts[0]),
            microseconds.magnitude < 1 << 58
        else { return nil }
        endsAt = PostgresTimestamp(microsecondsSince1970: microseconds)
        (bundleID, originalTransactionID, kind) = (cursor.parts[1], cursor.parts[2], cursor.parts[3])
    }

    var cursor: ListCursor {
        ListCursor(behind: ["\(endsAt.microsecondsSince1970)", bundleID, originalTransactionID, kind])
    }
}
