import AppStorePayloads
import Base
import OrderStore
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// What the books keep for recurring revenue.
@Suite("Recurring revenue in the books")
struct RecurringTests {
    /// By default one random subscription in so many is heard.
    private static let share = 60

    private static let rows: PostgresQuery = """
        select concat_ws(' ', item, coalesce((counts_until at time zone 'UTC')::date - '2026-01-01', -1),
                         coalesce(end_reason, '-'), coalesce(billed_quarters, 0),
                         coalesce((first_ends_at at time zone 'UTC')::date - '2026-01-01', -1),
                         coalesce(is_renewal_off, false), coalesce(part_of, '-'))
          from storehook.booked_transactions order by starts_at, item
        """
    private static let stretches: PostgresQuery = """
        select concat_ws(' ', item, place, (starts_at at time zone 'UTC')::date - '2026-01-01',
                         (ends_at at time zone 'UTC')::date - '2026-01-01', coalesce(end_reason, '-'))
          from storehook.booked_stretches order by item, place
        """

    private func word(
        _ signed: Int64, on autoRenew: AutoRenewStatus = .on, intent: ExpirationIntent? = nil, grace: Int64? = nil,
        of product: String = "basic"
    ) -> RenewalInfoPayload {
        RenewalInfoPayload(
            originalTransactionId: "1", signedDate: Shop.day(signed), productId: product, autoRenewProductId: product,
            autoRenewStatus: autoRenew, expirationIntent: intent,
            isInBillingRetryPeriod: intent == .billing ? true : nil,
            gracePeriodExpiresDate: grace.map { Shop.day($0) })
    }

    @Test("the time for which a period counts, and the reason of its end, are in the books as soon as records arrive")
    func kept() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let one = { (signed: Int64, status: AppleStatus?, word: RenewalInfoPayload?) in
                Shop.entry("1", at: Shop.day(0), signed: Shop.day(signed), status: status, renewalInfo: word) {
                    ($0.offerDiscountType, $0.offerPeriod) = (.payUpFront, "P1M")
                }
            }
            try await site.apply([one(0, .active, word(0))])
            #expect(try await site.texts(Self.rows) == ["w1 -1 - 4 -1 f -"])
            // In grace, then over: what is said of the end changes no date and no price.
            try await site.apply([one(30, .gracePeriod, word(30, intent: .billing, grace: 46))])
            #expect(try await site.texts(Self.rows) == ["w1 46 billing 4 -1 f -"])
            // A charge in grace that arrives late: nothing ended.
            try await site.apply([Shop.entry("1", "2", at: Shop.day(40), renewal: true, first: Shop.day(0))])
            #expect(try await site.texts(Self.rows) == ["w1 40 - 4 -1 f -", "w2 -1 - 0 -1 f -"])
            // Extended, and then replaced.
            try await site.apply([
                Shop.entry(
                    "1", "2", at: Shop.day(40), days: 60, renewal: true, first: Shop.day(0), signed: Shop.day(50))
            ])
            try await site.apply([
                Shop.entry("1", "3", at: Shop.day(90), product: "premium", first: Shop.day(0))
            ])
            #expect(
                try await site.texts(Self.rows)
                    == ["w1 40 - 4 -1 f -", "w2 90 - 0 70 f -", "w3 -1 - 0 -1 f -"])
            // Over, by a word that changes nothing of the transaction.
            try await site.apply([
                Shop.entry(
                    "1", "3", at: Shop.day(90), product: "premium", first: Shop.day(0), signed: Shop.day(120),
                    status: .expired, renewalInfo: word(120, on: .off, intent: .customerCancelled, of: "premium"))
            ])
            #expect(try await site.texts(Self.rows).last == "w3 -1 voluntary 0 -1 f -")
            #expect(try await site.differences().isEmpty)
        }
    }

    @Test("a full refund that is taken back leaves two times, and taken back before it began none")
    func stretched() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await site.apply([Shop.entry("1", at: Shop.day(0)) { $0.quantity = 2 }])
            try await site.apply([
                Shop.entry("1", at: Shop.day(0), signed: Shop.day(10)) { $0.revocationDate = Shop.day(10) }
            ])
            #expect(try await site.texts(Self.rows) == ["w1 10 - 0 -1 f -"])
            try await site.apply([Shop.entry("1", at: Shop.day(0), signed: Shop.day(15))])
            #expect(try await site.texts(Self.rows) == ["w1 10 - 0 -1 f -"])
            #expect(try await site.texts(Self.stretches) == ["w1 0 15 30 -"])
            for change in [
                "update storehook.booked_stretches set ends_at = ends_at + interval '1 day'",
                "insert into storehook.booked_stretches select order_id, item, 1, starts_at, ends_at from storehook.booked_stretches",
                "delete from storehook.booked_stretches",
                "update storehook.booked_transactions set counts_until = null",
                "update storehook.booked_transactions set end_reason = 'billing'",
                "update storehook.booked_transactions set billed_quarters = 48",
                "update storehook.booked_transactions set first_ends_at = ends_at",
                "update storehook.booked_transactions set is_renewal_off = true",
                "update storehook.booked_transactions set part_of = item",
            ] {
                try await site.pool.withTransaction { try $0.executeScript(change) }
                #expect(try await site.differences(repair: true).count == 1, "\(change)")
                #expect(try await site.differences().isEmpty, "\(change)")
            }
            #expect(try await site.texts(Self.stretches) == ["w1 0 15 30 -"])
            // The reversal was of a later refund: it never stood.
            try await site.apply([
                Shop.entry("1", at: Shop.day(0), signed: Shop.day(20)) { $0.revocationDate = Shop.day(18) }
            ])
            #expect(try await site.texts(Self.stretches) == ["w1 0 15 18 -"])
            // Another customer paid: nothing of it is left.
            try await site.apply([
                Shop.entry("1", at: Shop.day(0), signed: Shop.day(21)) { $0.inAppOwnershipType = .familyShared }
            ])
            #expect(try await site.texts(Self.stretches).isEmpty)
            #expect(try await site.differences().isEmpty)
        }
    }

    @Test(
        "purchases that a release before booked are completed by the walk, from the latest record where their facts lack it"
    )
    func walked() async throws {
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            try await site.apply([
                Shop.entry("1", at: Shop.day(0), days: 90) {
                    ($0.offerDiscountType, $0.offerPeriod) = (.payUpFront, "P3M")
                },
                Shop.entry("2", at: Shop.day(0), days: 365, product: "yearly") { $0.billingPlanType = "MONTHLY" },
                Shop.entry("3", at: Shop.day(0)),
                Shop.entry("3", "4", at: Shop.day(20), product: "premium", first: Shop.day(0)),
            ])
            let now = try await site.texts(Self.rows)
            #expect(now == ["w1 -1 - 12 -1 f -", "w2 -1 - 4 -1 f -", "w3 20 - 0 -1 f -", "w4 -1 - 0 -1 f -"])
            // As such a release writes them: the whole records say it, beside the facts.
            try await site.pool.withTransaction {
                try $0.executeScript(
                    """
                    update storehook.booked_transactions set counts_until = null, billed_quarters = null;
                    update storehook.transactions set payload = (payload::jsonb || '{"offerPeriod": "P3M"}')::json where transaction_id = '1';
                    update storehook.purchase_facts set up_front_period = null, billing_plan = null;
                    update storehook.order_clock set finished_at = null where task = 'rebook';
                    """)
            }
            while try await site.orders.isDue() {
                _ = try await site.orders.walk(site.ledger, site.accounts, atMost: 2)
                try await site.number()
            }
            #expect(try await site.texts(Self.rows) == now)
            #expect(
                try await site.texts(
                    "select concat_ws(' ', up_front_period, billing_plan) from storehook.purchase_facts order by transaction_id"
                )
                    == ["P3M", "MONTHLY", "", ""])
            // A record that arrives now reads facts alone.
            try await site.apply([Shop.entry("1", "5", at: Shop.day(50), product: "premium", first: Shop.day(0))])
            #expect(try await site.texts(Self.rows).first == "w1 50 - 12 -1 f -")
        }
    }

    @Test("random subscriptions, heard in nearly any order, are booked as all of their facts together have it")
    func lives() async throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        try await OrderDatabase.with(catalog: Shop.catalog()) { site in
            let lives = sampledSeeds(of: 1_000, oneIn: UInt64(Self.share)).map {
                RecurringLife("r\($0)", seed: $0, steps: $0.isMultiple(of: 3) ? 40 : 8)
            }
            // Each is heard in order but for some, as Apple delivers.
            let queues = lives.map { life in
                var entries = life.entries.sorted { ($0.signedAt ?? .distantPast) < ($1.signedAt ?? .distantPast) }
                for place in entries.indices.dropFirst() where Int.random(in: 0..<10, using: &generator) == 0 {
                    entries.swapAt(place, Int.random(in: 0..<place, using: &generator))
                }
                return entries
            }
            for step in 0..<(queues.map(\.count).max() ?? 0) {
                for batch in queues.compactMap({ $0.count > step ? $0[step] : nil }).batches(of: 200) {
                    try await site.apply(batch)
                }
                guard step < 4 || step.isMultiple(of: 8) else { continue }
                let different = try await site.differences()
                try #require(different.isEmpty, "step \(step), seed \(seed): \(different.prefix(8))")
            }
            let different = try await site.differences()
            #expect(different.isEmpty, "seed \(seed): \(different.prefix(8))")
            for (what, floor) in Self.enough {
                let count: Int = try await site.value(PostgresQuery(unescaped: "select count(*) from \(what)"))
                #expect(isEnough(count, of: floor, oneIn: Self.share), "\(count) \(what), seed \(seed)")
            }
        }
    }

    /// What the lives have to have been about.
    private static let enough = [
        ("storehook.booked_transactions where counts_until > ends_at", 300),
        ("storehook.booked_transactions where counts_until < ends_at", 300),
        ("storehook.booked_transactions where end_reason = 'billing'", 100),
        ("storehook.booked_transactions where end_reason = 'voluntary'", 100),
        ("storehook.booked_transactions where is_renewal_off", 20),
        ("storehook.booked_stretches", 100),
        ("storehook.subscriptions where earlier_phases > 0", 200),
    ]
}
