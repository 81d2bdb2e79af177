import AppStorePayloads
import Base
import Postgres

/// storehook's answers at an instant, to be compared with the events.
struct FaultsTruth: Sendable {
    /// A record of a subscription's period; the last-signed of each decides.
    struct Period: Sendable {
        var purchaseID: String
        var isFamilyShared: Bool
        var revokedAt: PostgresTimestamp?
    }

    /// Events as they were written, the parts of their bodies that are the same for every reader.
    var events: [String: String] = [:]
    /// Subscriptions by their original transactions.
    var subscriptions: [String: ToldEvent.State] = [:]
    /// What was bought once, in the same way.
    var purchases: [String: ToldEvent.State] = [:]
    /// Accounts, as ``ToldEvent/account`` names them.
    var accounts: [String: ToldEvent.State] = [:]
    /// The last number that was given in each account's order.
    var sequences: [String: Int64] = [:]
    /// Periods of subscriptions by what all their records have in common.
    var periods: [String: Period] = [:]
    /// The period that each transaction is of.
    var periodOfTransaction: [String: String] = [:]

    init(_ database: BenchDatabase, at instant: PostgresTimestamp) async throws {
        for row in try await Self.rows("select 'evt_' || id as id, content from storehook.events", database) {
            events[try row.decode("id")] = try row.decode("content", as: String.self)
        }
        try await readStates(database, at: instant)
        try await readPeriods(database)
    }

    private static func rows(_ query: PostgresQuery, _ database: BenchDatabase) async throws -> PostgresRows {
        try await database.pool.query(query, deadline: .seconds(300))
    }

    private mutating func readStates(_ database: BenchDatabase, at instant: PostgresTimestamp) async throws {
        for row in try await Self.rows("select * from storehook.status_at(\(instant))", database) {
            var state = ToldEvent.State()
            state.status = try row.decode("status")
            state.access = try row.decode("access")
            state.productId = try row.decode("product_id", as: String?.self)
            state.accessUntil = try Self.text(row.decode("access_until"))
            state.inTrial = try row.decode("in_trial")
            state.willRenew = try row.decode("will_renew", as: Bool?.self)
            state.renewalProductId = try row.decode("renewal_product_id", as: String?.self)
            state.priceIncreasePending = try row.decode("price_increase_pending")
            subscriptions[try row.decode("original_transaction_id")] = state
        }
        for row in try await Self.rows("select * from storehook.one_time_purchases", database) {
            var state = ToldEvent.State()
            state.productId = try row.decode("product_id", as: String?.self)
            state.quantity = try row.decode("quantity")
            state.expiresAt = try Self.text(row.decode("expires_at"))
            state.revokedAt = try Self.text(row.decode("revoked_at"))
            state.revokedShare = try row.decode("revoked_share")
            purchases[try row.decode("original_transaction_id")] = state
        }
        let accounts = try await Self.rows(
            """
            select 'account ' || s.environment || '/' || lower(coalesce(s.account, s.token::text)) as name, s.tier, s.status,
                   s.access, s.source, s.expires_at, s.original_transaction_id, coalesce(t.sequence, 0) as sequence
              from storehook.account_status_at(\(instant)) s
              left join storehook.access_tellings t on t.token = s.token and t.environment = s.environment
            """, database)
        for row in accounts {
            var state = ToldEvent.State()
            state.tier = try row.decode("tier")
            state.status = try row.decode("status")
            state.access = try row.decode("access")
            state.source = try row.decode("source")
            state.expiresAt = try Self.text(row.decode("expires_at"))
            state.originalTransactionId = try row.decode("original_transaction_id", as: String?.self)
            let name: String = try row.decode("name")
            self.accounts[name] = state
            sequences[name] = try row.decode("sequence")
        }
    }

    private mutating func readPeriods(_ database: BenchDatabase) async throws {
        let rows = try await Self.rows(
            """
            select coalesce('w' || web_order_line_item_id, 't' || transaction_id) as period, transaction_id,
                   original_transaction_id, ownership is not distinct from 'FAMILY_SHARED' as is_shared, revoked_at
              from storehook.transactions
             where kind = 'Auto-Renewable Subscription'
             order by signed_at, digest
            """, database)
        for row in rows {
            let key: String = try row.decode("period")
            periodOfTransaction[try row.decode("transaction_id")] = key
            periods[key] = Period(
                purchaseID: try row.decode("original_transaction_id"), isFamilyShared: try row.decode("is_shared"),
                revokedAt: try row.decode("revoked_at", as: PostgresTimestamp?.self))
        }
    }

    /// As events write instants.
    private static func text(_ instant: PostgresTimestamp?) -> String? {
        instant.map { Timestamp(millisecondsSince1970: $0.millisecondsSince1970).description }
    }
}
