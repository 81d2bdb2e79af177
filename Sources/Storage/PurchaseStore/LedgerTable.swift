import AppStorePayloads
import Foundation
import Postgres
import Subscriptions

/// A table of facts or of state: its columns, how rows computed in memory are written to it and compared with the
/// stored ones. Writing and checking share it, so that they cannot drift apart.
struct LedgerTable: Sendable {
    let name: String
    let key: [String]
    let columns: [String]
    /// `columns` as a statement lists them; joined once, since each batch writes most tables.
    private let list: String
    /// The end of an upsert: what happens to an existing row.
    private let replacement: String

    /// - Parameter guarding: when a row may be replaced; nil for always.
    private init(name: String, key: [String], columns: [String], guarding: String? = nil) {
        self.name = name
        self.key = key
        self.columns = columns
        list = columns.joined(separator: ", ")
        let values = columns.filter { !key.contains($0) }.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        replacement = """
            on conflict (\(key.joined(separator: ", "))) do update set \(values)
            \(guarding.map { "where \($0)" } ?? "")
            """
    }

    private static let purchase = ["original_transaction_id", "bundle_id", "environment"]

    /// On conflict: the later signed record wins; signed beats unsigned; ties go to the smaller UUID of the notification, so that the
    /// order of arrival never matters (``SignedFact/supersedes(_:)``).
    private static let laterSigned = """
        (excluded.is_unsigned is null, excluded.signed_at, excluded.digest)
            > (known.is_unsigned is null, known.signed_at, known.digest)
        or (excluded.signed_at, excluded.digest) = (known.signed_at, known.digest)
           and (excluded.notification_uuid < known.notification_uuid or known.notification_uuid is null)
        """

    static let facts = LedgerTable(
        name: "purchase_facts", key: purchase + ["signed_at", "outbox_id"],
        columns: PurchaseStatement.columns.map(\.name))
    static let transactions = LedgerTable(
        name: "transactions", key: ["transaction_id", "bundle_id", "environment"],
        columns: LedgerColumns.transaction.map(\.name), guarding: laterSigned)
    static let renewals = LedgerTable(
        name: "renewals", key: purchase, columns: LedgerColumns.renewal.map(\.name), guarding: laterSigned)
    static let subscriptions = LedgerTable(
        name: "subscriptions", key: purchase,
        columns: LedgerColumns.subscription.map(\.name) + PhaseColumns.all.map(\.name))
    static let history = LedgerTable(
        name: "subscription_history", key: purchase + ["starts_at"],
        columns: LedgerColumns.history.map(\.name) + PhaseColumns.all.map(\.name))
    static let oneTimePurchases = LedgerTable(
        name: "one_time_purchases", key: purchase, columns: LedgerColumns.oneTimePurchase.map(\.name))
    static let replacedRenewals = LedgerTable(
        name: "replaced_renewals", key: purchase + ["transaction_id"], columns: LedgerColumns.neverBegun.map(\.name))
    static let anomalies = LedgerTable(
        name: "anomalies", key: purchase + ["kind", "signed_at", "transaction_id"],
        columns: LedgerColumns.anomaly.map(\.name))

    /// Upserts rows. The plan is kept: there is one way to do it, and planning so many columns takes long.
    func upsert(_ rows: PostgresQuery) -> PostgresQuery {
        PostgresQuery(
            "ledger.upsert_\(name)",
            """
            with derived (\(unescaped: list)) as (\(embedding: rows))
            insert into storehook.\(unescaped: name) as known (\(unescaped: list))
            select \(unescaped: list) from derived
            \(unescaped: replacement)
            """
        ).keepingPlan()
    }

    /// Inserts rows that do not exist yet; otherwise as ``upsert(_:)``.
    func insert(_ rows: PostgresQuery) -> PostgresQuery {
        PostgresQuery(
            "ledger.insert_\(name)",
            """
            with derived (\(unescaped: list)) as (\(embedding: rows))
            insert into storehook.\(unescaped: name) (\(unescaped: list)) select \(unescaped: list) from derived
            """
        ).keepingPlan()
    }

    /// The differences between the stored rows of these purchases and the given ones: key, column, stored, expected.
    ///
    /// Rows are compared whole, and only those that differ are taken apart: a check mostly finds no difference.
    func differences(_ rows: PostgresQuery, of purchases: [PurchaseKey]) -> PostgresQuery {
        // A part of a key may be null, and json has no equality.
        let compared = { (row: String) in
            columns.map { column in
                column == "payload" ? "\(row).payload::text" : completions[column]?(row) ?? "\(row).\(column)"
            }.joined(separator: ", ")
        }
        let matches = key.map {
            $0 == "transaction_id" ? "coalesce(s.\($0), '') = coalesce(d.\($0), '')" : "s.\($0) = d.\($0)"
        }.joined(separator: " and ")
        let names = key.map { "coalesce(s.\($0), d.\($0))" }.joined(separator: ", ")
        return PostgresQuery(
            "ledger.differences_\(name)",
            """
            with derived (\(unescaped: list)) as (\(embedding: rows)), stored as (
                select \(unescaped: columns.map { "t.\($0)" }.joined(separator: ", "))
                  from storehook.\(unescaped: name) t
                  join unnest(\(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                              \(purchases.map(\.environment)))
                       as scope (original_transaction_id, bundle_id, environment)
                    on scope.original_transaction_id = t.original_transaction_id and scope.bundle_id = t.bundle_id
                   and scope.environment = t.environment
            ), different as (
                select concat_ws(' ', \(unescaped: names)) as key, to_jsonb(s) as stored, to_jsonb(d) as derived
                  from stored s full join derived d on \(unescaped: matches)
                 where (\(unescaped: compared("s"))) is distinct from (\(unescaped: compared("d")))
            )
            select key, cell.name, cell.stored, cell.derived
              from different
             cross join lateral (
                select coalesce(a.key, b.key) as name, a.value as stored, b.value as derived
                  from jsonb_each_text(coalesce(different.stored, '{}')) a
                  full join jsonb_each_text(coalesce(different.derived, '{}')) b using (key)
                 where a.value is distinct from b.value
                   and not (a.value is null and coalesce(a.key, b.key) = any(\(completions.keys.sorted())) and stored is not null)
             ) cell
             order by key, cell.name
            """)
    }

    /// Columns that a release before leaves as they are in a row that it writes: in a new row null, in another one as it was. What such a
    /// row has of them is no difference; by the derived row `d` it becomes what it has to be. `s` is the stored row, or `d` again.
    private var completions: [String: @Sendable (String) -> String] {
        switch name {
        case "subscriptions", "one_time_purchases":
            var completions = StoredDates.completions
            if name == "one_time_purchases" { completions["revocation_reason"] = Self.completedReason }
            return completions
        case "purchase_facts":
            return Dictionary(
                uniqueKeysWithValues: PurchaseStatement.completed.map { column in
                    (column, { @Sendable row in "coalesce(\(row).\(column), d.\(column))" })
                })
        default: return [:]
        }
    }

    private static let completedReason: @Sendable (String) -> String = {
        "coalesce(\($0).revocation_reason, d.revocation_reason)"
    }

    /// Completes the rows of releases before, see ``completions``; nil where all releases write the same columns.
    func complete(_ rows: PostgresQuery) -> PostgresQuery? {
        let completions = completions.sorted { $0.key < $1.key }
        guard !completions.isEmpty else { return nil }
        let matches = key.map { "s.\($0) = d.\($0)" }.joined(separator: " and ")
        let (stored, complete) = (
            completions.map { "s.\($0.key)" }.joined(separator: ", "),
            completions.map { $0.value("s") }.joined(separator: ", ")
        )
        return PostgresQuery(
            "ledger.complete_\(name)",
            """
            with derived (\(unescaped: list)) as (\(embedding: rows))
            update storehook.\(unescaped: name) s
               set (\(unescaped: completions.map(\.key).joined(separator: ", "))) = row(\(unescaped: complete))
              from derived d
             where \(unescaped: matches) and (\(unescaped: stored)) is distinct from (\(unescaped: complete))
            """)
    }

    /// Deletes all rows of these purchases.
    func delete(_ purchases: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.delete_\(name)",
            """
            delete from storehook.\(unescaped: name) t
             using unnest(\(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                          \(purchases.map(\.environment)))
                   as scope (original_transaction_id, bundle_id, environment)
             where t.original_transaction_id = scope.original_transaction_id and t.bundle_id = scope.bundle_id
               and t.environment = scope.environment
            """)
    }
}
