import Base
import Foundation
import OrderStore
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// The books of random customers against what plain SQL makes of the raw facts.
struct OrderLifeTests {
    private static let zone = "America/New_York"
    /// By default one life in so many is heard.
    private static let share = 80
    private static var catalog: String { Shop.catalog(zone: zone) }

    private static var now: Timestamp { Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970)) }

    @Test(
        "random orders are what plain SQL makes of their facts, heard in any order, by several writers, rebuilt, and refunded late"
    )
    func lives() async throws {
        var generator = SeededGenerator()
        let (seed, now) = (generator.seed, Self.now)
        let lives = sampledSeeds(of: 5_000, oneIn: UInt64(Self.share)).map { OrderLives.life(seed: $0, now: now) }
        try await OrderDatabase.with(catalog: Self.catalog) { one in
            try await one.hear(lives, size: 200, &generator)
            #expect(try await !one.hasGaps(), "seed \(seed)")
            let oracle = OrderOracle(site: one, zone: Self.zone, isDealtMeanwhile: true)
            try await Self.judge(oracle, lives, "heard, seed \(seed)")

            try await one.destroy()
            #expect(try await !one.differences(repair: true).isEmpty, "seed \(seed)")
            #expect(try await one.differences().isEmpty, "seed \(seed)")
            try await Self.judge(oracle, lives, "rebuilt, seed \(seed)")

            for batch in lives.compactMap(\.late).shuffled(using: &generator).batches(of: 50) {
                try await one.apply(batch)
            }
            try await one.number()
            try await Self.judge(oracle, lives, "refunded late, seed \(seed)")
            #expect(try await !one.hasGaps(), "seed \(seed)")
            #expect(try await one.differences().isEmpty, "seed \(seed)")
            for (what, query, floor) in Self.enough {
                let count: Int = try await one.value(PostgresQuery(unescaped: query))
                #expect(isEnough(count, of: floor, oneIn: Self.share), "\(count) \(what), seed \(seed)")
            }

            try await OrderDatabase.with(catalog: Self.catalog) { two in
                let whole = lives.map { OrderLife(seed: $0.seed, entries: $0.entries + [$0.late].compactMap(\.self)) }
                try await two.hear(whole, size: 500, isDealtMeanwhile: false, &generator)
                #expect(try await !two.hasGaps(), "seed \(seed)")
                try await Self.judge(OrderOracle(site: two, zone: Self.zone), lives, "other database, seed \(seed)")
                let stale = try await two.differences()
                #expect(stale.isEmpty, "seed \(seed)")
                let (ones, twos) = (try await Self.rows(one), try await Self.rows(two))
                let different = Set(ones).symmetricDifference(twos).sorted()
                #expect(ones.count == twos.count && different.isEmpty, "two databases differ, seed \(seed)")
                Self.report(
                    different.map { row in
                        let key = row.split(separator: " ").first.map(String.init) ?? ""
                        return OrderOracle.Difference(
                            key: key, description: (ones.contains(row) ? "one: " : "two: ") + row)
                    }, lives, "two databases, seed \(seed)")
            }
        }
    }

    @Test("books that were changed by hand differ from what plain SQL makes of the facts")
    func changes() async throws {
        var generator = SeededGenerator()
        let lives = (0..<60).map { OrderLives.life(seed: $0, now: Self.now) }
        try await OrderDatabase.with(catalog: Self.catalog) { site in
            for batch in lives.flatMap(\.entries).batches(of: 50) { try await site.apply(batch) }
            let oracle = OrderOracle(site: site, zone: Self.zone)
            try await oracle.derive()
            try await Self.wipe(site)
            let before = try await oracle.differences().map(\.description)
            try await Self.run("create schema kept; " + Self.copies("create table kept.%@ as table storehook.%@"), site)
            // By default one in three of them, chosen by chance.
            for change in sampled(Self.changes, oneIn: 3, using: &generator) {
                try await Self.run(change, site)
                #expect(try await oracle.differences().count > before.count, "\(change)")
                try await Self.wipe(site)
                let after = try await oracle.differences().map(\.description)
                #expect(after.count == before.count, "a rebuild repairs: \(change)")
                try await Self.run(
                    Self.copies("delete from storehook.%@")
                        + Self.copies("insert into storehook.%@ overriding system value select * from kept.%@"), site)
            }
        }
    }

    // MARK: Parts

    private static let changes = [
        "update storehook.booked_orders set status = 'failed'",
        "update storehook.booked_orders set item = null",
        "update storehook.booked_orders set refunded_at = now()",
        "update storehook.booked_orders set class_id = null",
        "update storehook.booked_transactions set relation = 'resubscription' where relation = 'renewal'",
        "update storehook.booked_transactions set price = price + 1",
        "update storehook.booked_transactions set currency = 'CHF'",
        "update storehook.booked_transactions set refunded = refunded - 1 where refunded > 0",
        "update storehook.booked_transactions set revoked_share = null where revoked_share > 0",
        "update storehook.booked_transactions set is_void = false where is_void",
        "update storehook.booked_transactions set transaction_id = transaction_id || 'x'",
        "update storehook.booked_refunds set amount = amount + 1",
        "update storehook.booked_refunds set at = at + interval '1 millisecond'",
        "update storehook.booked_refunds set is_computed = not is_computed",
        "delete from storehook.booked_refunds where place = 1",
        "delete from storehook.booked_transactions",
    ]

    /// A statement for each table of the books.
    private static func copies(_ statement: String) -> String {
        ["booked_orders", "booked_transactions", "booked_refunds", "booked_stretches"].map {
            statement.replacingOccurrences(of: "%@", with: $0) + "; "
        }.joined()
    }

    private static func run(_ script: String, _ site: OrderDatabase) async throws {
        try await site.pool.withTransaction { try $0.executeScript(script) }
    }

    /// Derives the changed books anew.
    private static func wipe(_ site: OrderDatabase) async throws { _ = try await site.differences(repair: true) }

    private static func judge(_ oracle: OrderOracle, _ lives: [OrderLife], _ when: String) async throws {
        try await oracle.derive()
        report(try await oracle.differences(), lives, when)
    }

    /// Records each life that differs, the shortest first.
    private static func report(_ differences: [OrderOracle.Difference], _ lives: [OrderLife], _ when: String) {
        let stories = Dictionary(uniqueKeysWithValues: lives.map { ($0.seed, $0) })
        let groups = Dictionary(grouping: differences) { OrderLife.seed(ofKey: $0.key) ?? .max }
        let lengths = groups.mapValues { _ in 0 }.map { seed, _ in (stories[seed]?.entries.count ?? 0, seed) }.sorted {
            $0 < $1
        }
        for (_, seed) in lengths.prefix(60) {
            let rows = (groups[seed] ?? []).map(\.description).joined(separator: "\n")
            Issue.record("\(when), \(groups.count) lives differ, life \(seed):\n\(rows)\n\(stories[seed]?.story ?? "")")
        }
    }

    /// All that is derived, without what is evidence: the day of a number that was dealt early, too.
    private static func rows(_ site: OrderDatabase) async throws -> [String] {
        try await site.texts(
            """
            select o.order_key || ' ' || (to_jsonb(o) - 'id' - 'day' - 'number' - 'created_at' - 'updated_at' - 'class_id'
                       || (to_jsonb(c) - 'id'))::text
              from storehook.booked_orders o join storehook.order_classes c on c.id = o.class_id
            union all
            select o.order_key || ' ' || o.environment || ' ' || o.bundle_id || ' '
                       || (to_jsonb(t) - 'order_id' - 'heard_at' - 'changed_at' - 'tier_rank')::text
              from storehook.booked_transactions t join storehook.booked_orders o on o.id = t.order_id and o.class_id is not null
            union all
            select o.order_key || ' ' || o.environment || ' ' || o.bundle_id || ' ' || (to_jsonb(r) - 'order_id' - 'heard_at')::text
              from storehook.booked_refunds r join storehook.booked_orders o on o.id = r.order_id and o.class_id is not null
            union all
            select o.order_key || ' ' || o.environment || ' ' || o.bundle_id || ' ' || (to_jsonb(s) - 'order_id')::text
              from storehook.booked_stretches s join storehook.booked_orders o on o.id = s.order_id and o.class_id is not null
            """)
    }

    /// What the lives have to have been about.
    private static let enough: [(String, String, Int)] = [
        ("renewals that never begin", "select count(*) from oracle.things where is_void", 200),
        ("returns", "select count(*) from oracle.relations where types[1] = 'resubscription'", 500),
        ("reversals", "select count(*) from oracle.refunds where type = 'refund_reversed'", 500),
        ("revocations", "select count(*) from oracle.refunds where type = 'revoke'", 50),
        ("refunds of an unknown amount", "select count(*) from oracle.totals where unknown_refunds > 0", 100),
        ("refunds of a part", "select count(*) from oracle.orders where status = 'partially_refunded'", 500),
        ("whole refunds", "select count(*) from oracle.orders where status = 'refunded'", 500),
        (
            "orders in several currencies",
            "select count(*) from (select from oracle.totals group by environment, bundle_id, order_key having count(currency) > 1) t",
            200
        ),
        (
            "things bought again",
            "select count(*) from oracle.orders where plan_type = 'non_consumable' and order_key <> original_transaction_id",
            20
        ),
        ("periods to come", "select count(*) from oracle.things where purchased_at > now()", 100),
        ("shared things", "select count(*) from oracle.things where ownership = 'FAMILY_SHARED'", 200),
    ]
}
