import AppStorePayloads
import Base
import FigureStore
import Foundation
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Figures of an account depend on all of its purchases: transactions that change two of them wait for each other.
@Suite("Figures of an account that two transactions change")
struct FigureLockTests {
    private static let ann = OrderDatabase.token("ann")

    /// A period of 30 days of the account, from noon of a day on.
    private static func period(_ purchase: String, _ day: Int64) -> LedgerEntry {
        Shop.entry(purchase, at: Shop.day(day, hours: 12), first: Shop.day(day, hours: 12)) { $0.appAccountToken = ann }
    }

    /// Whether a statement waits for a lock.
    private static func waits(_ database: FigureDatabase) async throws -> Bool {
        try await database.site.value(
            """
            select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
                              and query like '%storehook.account%')
            """)
    }

    @Test("a purchase that becomes an account's while another one is booked leaves no day unsummed")
    func linked() async throws {
        try await FigureDatabase.with { database in
            // January, and again from 2 March on: a customer that came back.
            for entry in [Self.period("1", 0), Self.period("2", 60)] { try await database.hear(entry) }
            try await database.settle()
            let right = try await database.tables()
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    create table storehook.away as select * from storehook.booked_transactions where transaction_id = '1';
                    delete from storehook.booked_transactions where transaction_id = '1';
                    delete from storehook.account_lines where original_transaction_id = '2';
                    """)
            }
            try await database.settle()
            #expect(try await database.tables() != right)
            // A worker holds the account and has booked its first period.
            let booking = try await HeldTransaction(
                in: database.site.database,
                """
                with held as materialized (select token from storehook.accounts for no key update)
                insert into storehook.booked_transactions select a.* from storehook.away a cross join held
                """)
            let linking = Task {
                try await database.site.pool.query(
                    """
                    insert into storehook.account_lines (token, environment, original_transaction_id, bundle_id)
                    select token, 'Production', '2', \(Shop.app) from storehook.accounts
                    """)
            }
            try await eventually("the second purchase waits for the first") { try await Self.waits(database) }
            try await database.settle()
            try await booking.release()
            _ = try await linking.value
            try await database.settle()
            #expect(try await database.differences().isEmpty)
            #expect(try await database.tables() == right)
        }
    }

    @Test("a rebuild books nothing of an account that a worker holds")
    func rebuilt() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.period("1", 0))
            try await database.site.pool.query("update storehook.booked_transactions set price = 1")
            let booking = try await HeldTransaction(
                in: database.site.database, "select token::text from storehook.accounts for no key update")
            let rebuilding = Task { try await database.site.differences(repair: true) }
            try await eventually("the rebuild waits for the account") { try await Self.waits(database) }
            try await booking.release()
            #expect(try await !rebuilding.value.isEmpty)
            #expect(try await database.site.differences().isEmpty)
        }
    }
}
