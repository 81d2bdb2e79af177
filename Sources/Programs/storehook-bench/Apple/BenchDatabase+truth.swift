import Postgres

extension BenchDatabase {
    /// Everything that was learned, as one digest a table, but for when and which way it came.
    func truth() async throws -> [String: String] {
        var truth: [String: String] = [:]
        for table in [
            "notifications", "purchase_facts", "transactions", "renewals", "subscriptions", "subscription_history",
            "one_time_purchases", "anomalies", "purchase_lines", "shared_transactions",
            "replaced_renewals",
        ] {
            // A digest of digests: the rows themselves would not fit into one value.
            truth[table] = try await pool.query(
                """
                select count(*) || ' ' || md5(coalesce(string_agg(t.row, '' order by t.row), ''))
                  from (select md5((to_jsonb(r) - array['outbox_id', 'received_at', 'applied_at', 'source',
                                                        'first_stored_at', 'last_stored_at'])::text) as row
                          from storehook.\(unescaped: table) r) t
                """, deadline: .seconds(600)
            ).one().decode(0)
        }
        return truth
    }

    /// Tables in which two databases differ.
    static func differences(_ one: [String: String], _ other: [String: String]) -> [String] {
        Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }.sorted()
    }
}
