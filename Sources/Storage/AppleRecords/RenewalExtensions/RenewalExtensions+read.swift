package import Base
package import Foundation
package import Postgres

/// How many extensions of a kind stand somewhere on their way.
package struct OpenExtensions: Sendable, Hashable {
    /// Where.
    package var scope: AppEnvironment
    /// `one` or `all`.
    package var kind: String
    /// How far they have come.
    package var state: RenewalExtension.State
    /// How many.
    package var count: Int64
    /// For how long the oldest has been waited for.
    package var oldestAge: Duration
}

/// A subscription that a mass extension could not extend.
package struct ExtensionFailure: Sendable, Hashable {
    /// The subscription.
    package var originalTransactionID: String
    /// The notification that reported it.
    package var notificationUUID: UUID
    /// When Apple signed that.
    package var signedAt: PostgresTimestamp
}

/// Which extensions are asked for. Nil is any.
package struct ExtensionFilter: Sendable, Hashable {
    /// Of this subscription.
    package var originalTransactionID: String?
    /// Not finished.
    package var isOpen = false
    /// Of these apps, by their bundle ids.
    package var apps: Set<String>?
    /// In this environment.
    package var environment: String?
    /// Recorded by this instant, each as it stood then; nil for now.
    package var at: Timestamp?

    /// All.
    package init() {}
}

extension RenewalExtensions {
    /// An extension by its number; nil if there is none.
    /// - Parameter instant: as it stood then, if it had been recorded; nil for now.
    package func find(_ id: Int64, at instant: Timestamp? = nil) async throws -> RenewalExtension? {
        let then = instant.map { PostgresTimestamp.end(of: $0) }
        return try await pool.query(
            PostgresQuery(
                "extension.find",
                """
                select r.id, \(unescaped: "\(RenewalExtension.columns)"), q.last_reason, \(failuresBy: then)
                  from storehook.extensions r
                  left join storehook.extension_queue q using (id)
                 where r.id = \(id) and (\(then)::timestamptz is null or r.requested_at <= \(then))
                """)
        ).first.map { try RenewalExtension($0, then: then) }
    }

    /// The parts of an extension's ``ListCursor``.
    package static let cursorParts = 1

    /// Extensions, the youngest first.
    /// - Parameters:
    ///   - cursor: behind it.
    ///   - limit: the most to return, 1 or more.
    ///   - most: how many are looked through for those that fit; nil for all that there are.
    /// - Throws: `PostgresError`.
    package func list(
        _ filter: ExtensionFilter = ExtensionFilter(), after cursor: ListCursor? = nil, limit: Int,
        lookingThrough most: Int? = nil
    ) async throws -> ListPage<RenewalExtension> {
        let then = filter.at.map { PostgresTimestamp.end(of: $0) }
        let place = try await pool.place(behind: then, in: "storehook.extensions", by: "requested_at")
        let last = min(cursor.flatMap { Int64($0.parts[0]) } ?? .max, place)
        let (original, apps) = (filter.originalTransactionID, filter.apps.map { $0.sorted() })
        let window = most.map { max($0, limit) }
        var floor: Int64?
        if filter != ExtensionFilter(), let window { floor = try await end(before: last, window) }
        let rows = try await pool.query(
            PostgresQuery(
                "extension.list",
                """
                select r.id, \(unescaped: "\(RenewalExtension.columns)"), q.last_reason, \(failuresBy: then)
                  from storehook.extensions r
                  left join storehook.extension_queue q using (id)
                 where r.id < \(last) and (\(floor)::bigint is null or r.id >= \(floor))
                   and (\(then)::timestamptz is null or r.requested_at <= \(then))
                   and (r.settled_at is null or coalesce(r.settled_at > \(then), false) or not \(filter.isOpen))
                   and (\(original)::text is null or r.original_transaction_id = \(original))
                   and (\(apps)::text[] is null or r.bundle_id = any (\(apps)))
                   and (\(filter.environment)::text is null or r.environment = \(filter.environment))
                 order by r.id desc
                 limit \(Int64(limit + 1))
                """))
        let found = try rows.prefix(limit).map { try RenewalExtension($0, then: then) }
        if rows.count > limit { return ListPage(found, next: found.last.map { ListCursor(behind: ["\($0.id)"]) }) }
        guard let floor else { return ListPage(found) }
        return ListPage(found, next: ListCursor(behind: ["\(floor)"]), lookedThrough: window)
    }

    /// The last extension that a page looks through; nil where there are fewer.
    private func end(before last: Int64, _ window: Int) async throws -> Int64? {
        try await pool.query(
            PostgresQuery(
                "extension.list_end",
                """
                select r.id from storehook.extensions r where r.id < \(last)
                 order by r.id desc offset \(Int64(window) - 1) limit 1
                """)
        ).first?.decode(0)
    }

    /// The subscriptions that a mass extension could not extend, as far as Apple has named them.
    /// - Parameter instant: those that it had signed by then; nil for all.
    package func failures(of id: Int64, limit: Int, at instant: Timestamp? = nil) async throws -> [ExtensionFailure] {
        let then = instant.map { PostgresTimestamp.end(of: $0) }
        return try await pool.query(
            PostgresQuery(
                "extension.failures",
                """
                select original_transaction_id, notification_uuid, signed_at
                  from storehook.extension_failures
                 where extension_id = \(id) and (\(then)::timestamptz is null or signed_at <= \(then))
                 order by signed_at, notification_uuid
                 limit \(limit)
                """)
        ).map { row in
            ExtensionFailure(
                originalTransactionID: try row.decode("original_transaction_id"),
                notificationUUID: try row.decode("notification_uuid"), signedAt: try row.decode("signed_at"))
        }
    }
}

extension RenewalExtensions {
    /// The webOrderLineItemId of a transaction; nil where it has none, or is not known.
    package func lineItem(of transactionID: String, _ scope: AppEnvironment) async throws -> String? {
        try await pool.query(
            PostgresQuery(
                "extension.line_item",
                """
                select web_order_line_item_id from storehook.transactions
                 where environment = \(scope.environment) and bundle_id = \(scope.bundleID)
                   and transaction_id = \(transactionID)
                """)
        ).first.flatMap { try $0.decode(0) }
    }
}

extension RenewalExtensions: MonitoredStore {
    /// See ``open()``.
    package static let monitored = "extensions_open"

    /// What is not finished.
    package func samples() async throws -> [MetricSample] {
        try await open().flatMap { open in
            let labels = open.scope.labels + [("kind", open.kind), ("state", open.state.rawValue)]
            return [
                MetricSample("storehook_extensions_open", labels, Double(open.count)),
                MetricSample("storehook_extensions_oldest_age_seconds", labels, open.oldestAge),
            ]
        }
    }

    /// What is not finished.
    package func open() async throws -> [OpenExtensions] {
        try await pool.query(
            PostgresQuery(
                "extension.open",
                """
                select bundle_id, environment, kind, state, count, oldest_age_seconds
                  from storehook.extensions_open
                 order by bundle_id, environment, kind, state
                """)
        ).map { row in
            OpenExtensions(
                scope: try AppEnvironment(row),
                kind: try row.decode("kind"), state: try row.decode("state", among: RenewalExtension.State.self),
                count: try row.decode("count"),
                oldestAge: .seconds(try row.decode("oldest_age_seconds", as: Double.self)))
        }
    }
}
