import AppStorePayloads
import Base
import Postgres
import PurchaseStore
import Simulation
import Testing

@Suite("Money")
struct MoneyTests {
    private static let start: Int64 = 1_749_990_400_000

    private struct Payment: Equatable {
        var product: String
        var price: Int64
        var currency: String
        var quantity: Int32
        var isRefunded = false
    }

    private func payments(_ told: [UnsignedNotification]) async throws -> [Payment] {
        let arrivals = try told.map { try Arrival($0, in: .example) }
        var payments: [Payment] = []
        try await LedgerDatabase.with { database in
            try await database.apply(arrivals.map { $0.entry() })
            let rows = try await database.connection.query(
                "select product_id, price, currency, quantity, revoked_at from storehook.paid_periods")
            payments = try rows.map { row in
                Payment(
                    product: try row.decode("product_id"), price: try row.decode("price"),
                    currency: try row.decode("currency"), quantity: try row.decode("quantity"),
                    isRefunded: try row.decode("revoked_at", as: PostgresTimestamp?.self) != nil)
            }
        }
        return payments
    }

    @Test("is kept in whole milliunits of its currency, quantity included, yen too")
    func milliunits() async throws {
        var anna = SimulatedSubscriber(storefront: .japan, lane: 1, seed: 1)
        anna.charge(.coins, quantity: 3, at: Self.start)
        let told = anna.takeNotifications()
        let paid = try #require(told.first?.transaction)
        #expect(paid.price % 10_000 == 0)
        let payments = try await payments(told)
        #expect(
            payments == [Payment(product: SimulatedProduct.coins.id, price: paid.price, currency: "JPY", quantity: 3)])
    }

    @Test("is one row a paid period, although a restore repeats it under another transaction")
    func restored() async throws {
        var anna = SimulatedSubscriber(storefront: .germany, lane: 1, seed: 1)
        let line = anna.buy(.basicMonthly, at: Self.start)
        anna.restore(line)
        anna.switchAutoRenew(line, on: false, at: Self.start + 86_400_000)
        anna.switchAutoRenew(line, on: true, at: Self.start + 2 * 86_400_000)
        anna.renew(line)
        let told = anna.takeNotifications()
        #expect(Set(told.compactMap(\.transaction?.transactionId)).count == 3)
        let month = Payment(product: SimulatedProduct.basicMonthly.id, price: 4990, currency: "EUR", quantity: 1)
        #expect(try await payments(told) == [month, month])
    }

    /// What the sum in sql/README.md says of what stands, by currency: paid, refunded, net.
    private func sum(_ entries: [LedgerEntry]) async throws -> [[Int64]] {
        var sums: [[Int64]] = []
        try await LedgerDatabase.with { database in
            for entry in entries { try await database.apply([entry]) }
            let rows = try await database.connection.query(
                """
                select count(*), sum(price)::bigint as paid, sum(refunded)::bigint as refunded,
                       sum(price - refunded)::bigint as net
                  from storehook.paid_periods group by currency
                """)
            sums = try rows.map { row in try (0..<4).map { try row.decode($0, as: Int64.self) } }
        }
        return sums
    }

    /// A lifetime purchase, two restores of it, and what else is said of them.
    private func lifetime(_ more: (inout TransactionPayload, Int) -> Void = { _, _ in }) throws -> [LedgerEntry] {
        var anna = SimulatedSubscriber(lane: 1, seed: 1)
        anna.charge(.lifetime, at: Self.start)
        let bought = try Arrival(#require(anna.takeNotifications().first), in: .example)
        return try (0..<3).map { number in
            var arrival = bought
            var payload = try #require(arrival.transaction).payload
            if number > 0 {
                payload.transactionId = "restored \(number)"
                payload.purchaseDate = payload.purchaseDate?.adding(days: Int64(number))
                payload.signedDate = payload.signedDate.adding(days: Int64(number))
            }
            more(&payload, number)
            arrival.transaction = .init(
                payload, digest: Arrival.digest(Array("\(number) \(payload.signedDate)".utf8)))
            return arrival.records(run: 0)[0]
        }
    }

    @Test("of a lifetime purchase is paid once, however often it was restored, and its refund takes all of it")
    func restores() async throws {
        let price = SimulatedProduct.lifetime.dollarMilliunits
        #expect(try await sum(lifetime()) == [[1, price, 0, price]])
        #expect(try await sum(lifetime().reversed()) == [[1, price, 0, price]])
        // The refund is told of a copy alone.
        let refunded = try lifetime { payload, number in
            guard number == 2 else { return }
            payload.revocationDate = payload.signedDate
        }
        #expect(try await sum(refunded) == [[1, price, price, 0]])
        #expect(try await sum(refunded.reversed()) == [[1, price, price, 0]])
        // The first one says no price, as old records do.
        #expect(try await sum(lifetime { if $1 == 0 { $0.price = nil } }) == [[1, price, 0, price]])
    }

    @Test("of a lifetime purchase that was refunded and made again is two sales, one of which was paid back")
    func again() async throws {
        let price = SimulatedProduct.lifetime.dollarMilliunits
        let entries = try lifetime { payload, number in
            if number == 0 { payload.revocationDate = payload.signedDate.adding(seconds: 60) }
            guard number == 2 else { return }
            payload.originalPurchaseDate = payload.purchaseDate
        }
        #expect(try await sum(entries) == [[2, 2 * price, price, price]])
        #expect(try await sum(entries.reversed()) == [[2, 2 * price, price, price]])
    }

    @Test("of a restore that may be a purchase is not paid until Apple says so, who is asked")
    func unclear() async throws {
        let entries = try lifetime { payload, number in
            if number == 0 { payload.revocationDate = payload.signedDate.adding(seconds: 60) }
            if number == 2 { payload.originalPurchaseDate = nil }
        }
        try await LedgerDatabase.with { database in
            func unclear() async throws -> Int64 {
                try await database.count(
                    "select count(*) from storehook.contradictions where kind = 'purchase_unclear'")
            }
            for entry in entries { try await database.apply([entry]) }
            #expect(try await unclear() == 1)
            #expect(try await database.count("select count(*) from storehook.paid_periods") == 1)
            // Apple's answer.
            let answer = try lifetime { payload, _ in
                payload.originalPurchaseDate = payload.purchaseDate
                payload.signedDate = payload.signedDate.adding(days: 9)
            }
            try await database.apply([answer[2]])
            #expect(try await unclear() == 0)
            #expect(try await database.count("select count(*) from storehook.paid_periods") == 2)
        }
    }

    @Test("of a consumable is paid back by the share that Apple names")
    func share() async throws {
        var anna = SimulatedSubscriber(lane: 1, seed: 1)
        anna.charge(.coins, quantity: 3, at: Self.start)
        var arrival = try Arrival(#require(anna.takeNotifications().first), in: .example)
        var payload = try #require(arrival.transaction).payload
        let price = try #require(payload.price)
        payload.revocationDate = payload.signedDate
        payload.revocationPercentage = 50_000
        arrival.transaction = .init(payload, digest: [UInt8](repeating: 9, count: 32))
        #expect(try await sum(arrival.records(run: 0)) == [[1, price, price / 2, price - price / 2]])
    }

    @Test("leaves out what a family shares")
    func family() async throws {
        var parent = SimulatedSubscriber(lane: 1, seed: 1)
        parent.buy(.premiumYearly, at: Self.start)
        var child = SimulatedSubscriber(lane: 2, seed: 2)
        child.buy(.premiumYearly, ownership: .familyShared, at: Self.start)
        let payments = try await payments(parent.takeNotifications() + child.takeNotifications())
        #expect(
            payments == [
                Payment(product: SimulatedProduct.premiumYearly.id, price: 89_990, currency: "USD", quantity: 1)
            ])
    }

    @Test("is none of a renewal that was charged ahead and replaced by another plan before it began, in any order")
    func replaced() async throws {
        var anna = SimulatedSubscriber(lane: 1, seed: 1)
        let line = anna.buy(.basicMonthly, at: Self.start)
        anna.renew(line, at: Self.start + 86_400_000 * 30 - 36_000_000)
        anna.upgrade(line, to: .premiumYearly, at: Self.start + 86_400_000 * 30 - 12_600_000)
        let arrivals = try anna.takeNotifications().map { try Arrival($0, in: .example) }
        #expect(arrivals.count == 3)
        try await LedgerDatabase.with { database in
            var run = 0
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                for size in [1, 3] {
                    let entries = order.map { arrivals[$0].entry(run: run) }
                    for batch in entries.batches(of: size) { try await database.apply(batch) }
                    let rows = try await database.connection.query(
                        """
                        select product_id from storehook.paid_periods
                         where bundle_id like \("\(run)/%") order by purchased_at
                        """)
                    let paid = [SimulatedProduct.basicMonthly.id, SimulatedProduct.premiumYearly.id]
                    #expect(try rows.map { try $0.decode(0, as: String.self) } == paid, "\(order) by \(size)")
                    run += 1
                }
            }
            let rows = try await database.rows()
            for other in 1..<run { #expect(rows[other] == rows[0]) }
        }
    }

    @Test("counts what is added to a period by itself, though it has the period's line item")
    func added() async throws {
        var anna = SimulatedSubscriber(lane: 1, seed: 1)
        anna.buy(.basicMonthly, at: Self.start)
        let arrival = try Arrival(#require(anna.takeNotifications().first), in: .example)
        var seats = arrival
        seats.transaction?.payload.transactionId = "seats"
        seats.transaction?.payload.purchaseDate = arrival.transaction?.payload.purchaseDate?.adding(days: 3)
        seats.transaction?.payload.additionalTransactionReason = "SEAT_ADDITION"
        seats.transaction?.payload.price = 1990
        seats.renewal = nil
        try await LedgerDatabase.with { database in
            try await database.apply([arrival.entry(run: 0)] + seats.records(run: 0))
            let rows = try await database.connection.query(
                "select price from storehook.paid_periods order by price")
            #expect(try rows.map { try $0.decode(0, as: Int64?.self) } == [1990, 4990])
        }
    }

    @Test("knows what was refunded, and no longer once the refund is reversed")
    func refunded() async throws {
        var anna = SimulatedSubscriber(lane: 1, seed: 1)
        let line = anna.buy(.basicMonthly, at: Self.start)
        anna.restore(line)
        anna.refund(anna.latest(of: line), at: Self.start + 86_400_000)
        var told = anna.takeNotifications()
        #expect(try await payments(told).map(\.isRefunded) == [true])
        anna.reverseRefund(of: anna.latest(of: line), at: Self.start + 2 * 86_400_000)
        told += anna.takeNotifications()
        #expect(try await payments(told).map(\.isRefunded) == [false])
    }

    @Test("is what Apple signed of a paid period, and not what it only said of a copy of it")
    func unsignedCopy() async throws {
        var anna = SimulatedSubscriber(storefront: .germany, lane: 1, seed: 1)
        anna.buy(.basicMonthly, at: Self.start)
        let arrival = try Arrival(#require(anna.takeNotifications().first), in: .example)
        var copy = arrival
        copy.transaction?.payload.transactionId = "a copy"
        copy.transaction?.payload.price = nil
        copy.renewal = nil
        let said = copy.unsigned(run: 0, days: 30)
        try await LedgerDatabase.with { database in
            try await database.apply(said + [arrival.entry(run: 0)])
            let rows = try await database.connection.query("select price from storehook.paid_periods")
            #expect(try rows.map { try $0.decode(0, as: Int64?.self) } == [4990])
        }
    }
}
