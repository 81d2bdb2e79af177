import AccountStore
import AppStorePayloads
import Base
import OrderStore
import OrderSupport
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions
import Testing

@Suite("The books")
struct BookTests {
    private static let types: PostgresQuery = "select type from storehook.order_transactions order by at, type"

    @Test("what a change of plan is depends on the tiers when it was first stored, and on no later catalog")
    func tiers() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await site.apply([
                Shop.entry("1", at: Shop.day(0)),
                Shop.entry("1", "2", at: Shop.day(10), product: "premium", first: Shop.day(0)),
                Shop.entry("1", "3", at: Shop.day(40), product: "yearly", renewal: true, first: Shop.day(0)),
                Shop.entry("1", "4", at: Shop.day(50), product: "basic", first: Shop.day(0)),
                Shop.entry("1", "5", at: Shop.day(60), product: "unknown", first: Shop.day(0)),
                Shop.entry("1", "6", at: Shop.day(90), product: "basic", renewal: true, first: Shop.day(0)),
            ])
            let types = ["initial_purchase", "upgrade", "downgrade", "crossgrade", "upgrade", "crossgrade"]
            #expect(try await site.texts(Self.types) == types)
            _ = try await site.accounts.apply(Shop.catalog(premium: "pro"), by: "test")
            #expect(try await site.differences(repair: true).isEmpty)
            #expect(try await site.texts(Self.types) == types)
            try await site.apply([Shop.entry("1", "7", at: Shop.day(100), product: "premium", first: Shop.day(0))])
            #expect(try await site.texts(Self.types).last == "crossgrade")
        }
    }

    @Test("classes are looked up again where a restored backup has other ones under their numbers")
    func restored() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            // One worker's, which remembers.
            let pipeline = EvidencePipeline(site.pool, ledger: site.ledger)
            func hear(_ entry: LedgerEntry) async throws {
                _ = try await site.pool.withTransaction { try pipeline.apply([entry], $0).settled.changed }
            }
            for id in ["1", "2", "3"] { try await hear(Shop.entry(id, at: Shop.day(0))) }
            try await site.pool.query("update storehook.order_classes set product_id = 'other'")
            try await hear(Shop.entry("4", at: Shop.day(0)))
            try await site.pool.query("delete from storehook.order_classes where product_id = 'basic'")
            try await hear(Shop.entry("5", at: Shop.day(0)))
            #expect(
                try await site.texts(
                    """
                    select concat_ws(' ', o.order_key, c.product_id)
                      from storehook.booked_orders o left join storehook.order_classes c on c.id = o.class_id order by o.order_key
                    """) == ["1 other", "2 other", "3 other", "4", "5 basic"])
        }
    }

    @Test("an order is refunded when all that was paid is, and partially where anything is; a reversal takes that back")
    func statuses() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let row: PostgresQuery = """
                select concat_ws(' ', o.status, t.paid, t.refunded, o.refunded_at is not null, c.status = o.status)
                  from storehook.orders o join storehook.order_totals t using (order_key)
                  join storehook.booked_orders b using (order_key) join storehook.order_classes c on c.id = b.class_id
                """
            let renewed = { (signed: Int64, share: Int64?, at: Int64?) in
                Shop.entry(
                    "1", "2", at: Shop.day(30), renewal: true, first: Shop.day(0), signed: Shop.day(signed)
                ) {
                    ($0.revocationDate, $0.revocationPercentage) = (at.map { Shop.day($0) }, share)
                }
            }
            try await site.apply([Shop.entry("1", at: Shop.day(0), price: 0) { $0.offerType = .introductory }])
            #expect(try await site.texts(row) == ["completed 0 0 f t"])
            try await site.apply([renewed(30, nil, nil)])
            #expect(try await site.texts(row) == ["completed 9990 0 f t"])
            try await site.apply([renewed(41, 50_000, 40)])
            #expect(try await site.texts(row) == ["partially_refunded 9990 4995 t t"])
            try await site.apply([renewed(43, 100_000, 42)])
            #expect(try await site.texts(row) == ["refunded 9990 9990 t t"])
            // Another paid period: not all is refunded any more.
            try await site.apply([Shop.entry("1", "3", at: Shop.day(60), renewal: true, first: Shop.day(0))])
            #expect(try await site.texts(row) == ["partially_refunded 19980 9990 t t"])
            try await site.apply([renewed(64, nil, nil)])
            #expect(try await site.texts(row) == ["completed 19980 0 f t"])
            #expect(
                try await site.texts(
                    "select concat_ws(' ', type, amount, is_computed) from storehook.order_transactions where type like 'ref%' order by at"
                )
                    == ["refund 4995 t", "refund 4995 t", "refund_reversed 9990 f"])
            #expect(try await site.differences().isEmpty)
        }
    }

    @Test("a refund that arrives before its purchase makes the order")
    func early() async throws {
        try await OrderDatabase.with { site in
            let refund = Shop.entry("1", at: Shop.day(0), signed: Shop.day(5)) { $0.revocationDate = Shop.day(4) }
            try await site.apply([refund])
            #expect(try await site.texts("select status from storehook.orders") == ["refunded"])
            try await site.apply([Shop.entry("1", at: Shop.day(0))])
            #expect(try await site.texts("select status from storehook.orders") == ["refunded"])
            #expect(try await site.differences().isEmpty)
        }
    }

    @Test("if late evidence shows that a family member paid, the number stays and the order is in no list")
    func shared() async throws {
        try await OrderDatabase.with { site in
            try await site.apply([Shop.entry("1", at: Shop.day(0))])
            try await site.number()
            try await site.apply([
                Shop.entry("1", at: Shop.day(0), price: nil, signed: Shop.day(3)) {
                    $0.inAppOwnershipType = .familyShared
                }
            ])
            #expect(try await site.texts("select number from storehook.orders").isEmpty)
            let row: PostgresQuery = "select number::text from storehook.booked_orders where class_id is null"
            #expect(try await site.texts(row) == ["1"])
            #expect(try await site.differences().isEmpty)
            try await site.apply([Shop.entry("1", at: Shop.day(0), signed: Shop.day(4))])
            #expect(try await site.texts("select number from storehook.orders") == ["ORD-20260101-0001"])
            #expect(try await site.differences().isEmpty)
        }
    }

    @Test("an order that lost a period is among those that changed since then")
    func lost() async throws {
        try await OrderDatabase.with { site in
            let renewed = { (signed: Int64, ownership: OwnershipType) in
                Shop.entry("1", "2", at: Shop.day(30), renewal: true, first: Shop.day(0), signed: Shop.day(signed)) {
                    $0.inAppOwnershipType = ownership
                }
            }
            try await site.apply([Shop.entry("1", at: Shop.day(0)), renewed(30, .purchased)])
            try await site.apply([renewed(33, .familyShared)])
            #expect(try await site.texts("select transaction_id from storehook.booked_transactions") == ["1"])
            let lagging: PostgresQuery = """
                select order_key from storehook.booked_orders o
                 where updated_at > (select max(changed_at) from storehook.booked_transactions t where t.order_id = o.id)
                """
            #expect(try await site.texts(lagging).isEmpty)
            let raised: PostgresQuery = "select (updated_at > '2026-02-03Z')::text from storehook.booked_orders"
            #expect(try await site.texts(raised) == ["true"])
        }
    }

    @Test("an order shows the period that has begun, and the next one once it begins")
    func turning() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let now = Timestamp(try await site.value("select now()", as: PostgresTimestamp.self))
            let start = now.adding(days: -30).adding(seconds: 3600)
            try await site.apply([
                Shop.entry("1", at: start),
                Shop.entry(
                    "1", "2", at: start.adding(days: 30), product: "premium", renewal: true, first: start, signed: now),
            ])
            let shown: PostgresQuery = """
                select concat_ws(' ', o.product_id, c.product_id, b.turns_at is null)
                  from storehook.orders o join storehook.booked_orders b using (order_key)
                  join storehook.order_classes c on c.id = b.class_id
                """
            #expect(try await site.orders.turn() == 0)
            #expect(try await site.texts(shown) == ["basic basic f"])
            // Two hours later.
            try await site.pool.query(
                """
                with moved as (update storehook.booked_transactions set starts_at = starts_at - interval '2 hours')
                update storehook.booked_orders set turns_at = turns_at - interval '2 hours'
                """)
            #expect(try await site.orders.isDue())
            #expect(try await site.orders.turn() == 1)
            #expect(try await site.texts(shown) == ["premium premium t"])
            #expect(try await site.orders.turn() == 0)
        }
    }

    @Test("a rebuild finds each cell that differs and mends it")
    func differences() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await site.apply([
                Shop.entry("1", at: Shop.day(0)),
                Shop.entry("1", "2", at: Shop.day(30), renewal: true, first: Shop.day(0), signed: Shop.day(41)) {
                    ($0.revocationDate, $0.revocationPercentage) = (Shop.day(40), 50_000)
                },
            ])
            let faults: [(PostgresQuery, String, String)] = [
                ("update storehook.booked_orders set status = 'refunded'", "booked_orders", "status"),
                ("update storehook.booked_orders set plan_type = 'consumable'", "booked_orders", "plan_type"),
                ("update storehook.booked_orders set originally_at = now()", "booked_orders", "originally_at"),
                ("update storehook.booked_orders set refunded_at = null", "booked_orders", "refunded_at"),
                ("update storehook.booked_orders set item = 'w1'", "booked_orders", "item"),
                ("update storehook.booked_orders set class_id = null", "booked_orders", "*"),
                (
                    "update storehook.booked_transactions set price = 1 where item = 'w1'", "booked_transactions",
                    "price"
                ),
                (
                    "update storehook.booked_transactions set follows = 'x' where item = 'w2'", "booked_transactions",
                    "follows"
                ),
                (
                    "delete from storehook.booked_transactions where item = 'w1'", "booked_transactions",
                    "transaction_id"
                ),
                ("update storehook.booked_refunds set amount = 1", "booked_refunds", "*"),
                (
                    "insert into storehook.booked_refunds select order_id, item, 1, type, at, amount, is_computed, heard_at from storehook.booked_refunds",
                    "booked_refunds", "*"
                ),
            ]
            for (fault, table, column) in faults {
                try await site.pool.query(fault)
                let found = try await site.differences(repair: true)
                #expect(found.contains { $0.table == table && $0.column == column }, "\(fault.sql): \(found)")
                #expect(try await site.differences().isEmpty, "\(fault.sql)")
            }
        }
    }

    @Test("what changes nothing in the books writes nothing there")
    func unchanged() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await site.apply([Shop.entry("1", at: Shop.day(0))])
            let rows: PostgresQuery = """
                select xmin::text from storehook.booked_orders union all select xmin::text from storehook.booked_transactions
                """
            let before = try await site.texts(rows)
            try await site.apply([Shop.entry("1", at: Shop.day(0), signed: Shop.day(7))])
            #expect(try await site.texts(rows) == before)
        }
    }
}
