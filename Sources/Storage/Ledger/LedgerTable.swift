import Postgres
import Subscriptions

/// A table of facts or of state: how rows worked out in memory are written to it, and held against what stands in it.
///
/// The rows come as a statement that selects them from arrays, one column each; see ``PostgresQuery/transactions(_:)`` and
/// its like. Writing and checking share it, so that they cannot drift apart.
struct LedgerTable: Sendable {
    let name: String
    let key: [String]
    let values: [String]
    /// When a row may be replaced; nil for always.
    let guarding: String?

    private var columns: [String] { key + values }

    /// Whole records; the later-signed one stays (``SignedFact/supersedes(_:)``), and of two notifications that bring the
    /// same record the one of the smaller UUID is named, so that the order of arrival shows nowhere.
    private static let laterSigned = """
        (new.signed_at, new.digest) > (known.signed_at, known.digest)
        or (new.signed_at, new.digest) = (known.signed_at, known.digest)
           and new.notification_uuid < known.notification_uuid
        """

    static let reportedStatuses = LedgerTable(
        name: "purchase_lines", key: ["original_transaction_id", "bundle_id", "environment"],
        values: ["apple_status", "apple_status_signed_at"], guarding: nil)

    static let transactions = LedgerTable(
        name: "transactions", key: ["transaction_id", "bundle_id", "environment"],
        values: [
            "original_transaction_id", "web_order_line_item_id", "product_id", "subscription_group_id", "kind",
            "ownership", "purchased_at", "expires_at", "revoked_at", "is_upgraded", "reason", "offer_discount_type",
            "app_account_token", "price", "currency", "quantity", "signed_at", "digest", "notification_uuid", "payload",
        ], guarding: laterSigned)

    static let renewals = LedgerTable(
        name: "renewals", key: ["original_transaction_id", "bundle_id", "environment"],
        values: [
            "product_id", "renewal_product_id", "auto_renew", "renews_at", "expiration_intent", "in_billing_retry",
            "grace_expires_at", "price_increase_status", "app_account_token", "signed_at", "digest",
            "notification_uuid", "payload",
        ], guarding: laterSigned)

    static let subscriptions = LedgerTable(
        name: "subscriptions", key: ["original_transaction_id", "bundle_id", "environment"],
        values: [
            "subscription_group_id", "app_account_token", "ownership", "will_renew", "renewal_product_id",
            "price_increase_pending", "expiration_intent", "phase_starts", "phase_status", "phase_product",
            "phase_expires", "phase_trial",
        ], guarding: nil)

    static let all = [reportedStatuses, transactions, renewals, subscriptions]

    /// Writes rows over what stands.
    func upsert(_ rows: PostgresQuery) -> PostgresQuery {
        let list = columns.joined(separator: ", ")
        let replaced = values.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        let condition = guarding.map { "where \($0.replacing("new.", with: "excluded."))" } ?? ""
        return PostgresQuery(
            "ledger.upsert_\(name)",
            """
            with derived (\(unescaped: list)) as (\(embedding: rows))
            insert into storehook.\(unescaped: name) as known (\(unescaped: list))
            select \(unescaped: list) from derived
            on conflict (\(unescaped: key.joined(separator: ", "))) do update
               set \(unescaped: replaced) \(unescaped: condition)
            """)
    }

    /// What stands for these lines and should not, or the other way round: key, column, what stands, what should.
    func differences(_ rows: PostgresQuery, of lines: [PurchaseKey]) -> PostgresQuery {
        let list = columns.joined(separator: ", ")
        let keys = key.joined(separator: ", ")
        return PostgresQuery(
            "ledger.differences_\(name)",
            """
            with derived (\(unescaped: list)) as (\(embedding: rows)), stored as (
                select \(unescaped: list) from storehook.\(unescaped: name)
                  join unnest(\(lines.map(\.originalTransactionID)), \(lines.map(\.bundleID)), \(lines.map(\.environment)))
                       as scope (original_transaction_id, bundle_id, environment)
                 using (original_transaction_id, bundle_id, environment)
            )
            select concat_ws(' ', \(unescaped: keys)) as key, cell.name, cell.stored, cell.derived
              from (select \(unescaped: keys), to_jsonb(stored) as cells from stored) s
              full join (select \(unescaped: keys), to_jsonb(derived) as cells from derived) d
             using (\(unescaped: keys))
             cross join lateral (
                select coalesce(a.key, b.key) as name, a.value as stored, b.value as derived
                  from jsonb_each_text(coalesce(s.cells, '{}')) a
                  full join jsonb_each_text(coalesce(d.cells, '{}')) b using (key)
                 where a.value is distinct from b.value
             ) cell
             order by key, cell.name
            """)
    }

    /// Takes away all that stands for these lines.
    func delete(_ lines: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.delete_\(name)",
            """
            delete from storehook.\(unescaped: name) t
             using unnest(\(lines.map(\.originalTransactionID)), \(lines.map(\.bundleID)), \(lines.map(\.environment)))
                   as scope (original_transaction_id, bundle_id, environment)
             where t.original_transaction_id = scope.original_transaction_id and t.bundle_id = scope.bundle_id
               and t.environment = scope.environment
            """)
    }
}
