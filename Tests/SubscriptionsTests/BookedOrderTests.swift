import AppStorePayloads
import Base
import Subscriptions
import Testing

/// What purchases come to in the books, by examples worked by hand.
@Suite("Orders")
struct BookedOrderTests {
    private static let id = "1000"

    /// A period that was paid for.
    private func sold(
        _ id: String, _ days: ClosedRange<Int64>, product: String = "basic", renewal: Bool = false,
        price: Int64? = 9_990, signed: Timestamp? = nil, digest number: UInt8 = 0,
        _ change: (inout TransactionFact) -> Void = { _ in }
    ) -> TransactionFact {
        var fact = period(
            id, days, item: id, product: product, renewal: renewal, signed: signed, digest: number)
        (fact.price, fact.currency, fact.storefront) = (price, "USD", "USA")
        fact.originalPurchasedAt = day(0)
        change(&fact)
        return fact
    }

    /// Something bought once.
    private func bought(
        _ id: String, _ kind: ProductType, on bought: Int64, price: Int64? = 4_990, first: Int64? = nil,
        revoked: Int64? = nil, signed: Int64? = nil, digest number: UInt8 = 0
    ) -> TransactionFact {
        TransactionFact(
            transactionID: id, productID: "thing", kind: kind, ownership: "PURCHASED", purchasedAt: day(bought),
            revokedAt: revoked.map { day($0) }, originalPurchasedAt: day(first ?? bought), price: price,
            currency: "USD",
            storefront: "USA", signedAt: day(signed ?? bought), digest: digest(number))
    }

    private func orders(_ transactions: [TransactionFact], _ renewals: [RenewalFact] = []) -> [BookedOrder] {
        PurchaseState(PurchaseFacts(transactions: transactions, renewals: renewals)).orders(of: Self.id)
    }

    private func refunds(_ records: [TransactionFact]) -> BookedTransaction? {
        orders(records).first?.transactions.first
    }

    @Test("renewals, changes of plan, recoveries and a return after a lapse are transactions of one order")
    func relations() throws {
        let order = try #require(
            orders(
                [
                    sold("1", 0...30), sold("2", 30...60, renewal: true), sold("3", 45...75, product: "premium"),
                    // Renewed by Apple five days after access had ended.
                    sold("4", 80...110, product: "premium", renewal: true),
                    sold("5", 130...160, product: "basic"), sold("6", 160...190, product: "premium", renewal: true),
                ]
            ).first)
        #expect(order.key == Self.id && order.plan == .autoRenewable && order.originallyAt == day(0))
        #expect(
            order.transactions.map(\.relation) == [.initial, .renewal, .change, .renewal, .resubscription, .change])
        #expect(order.transactions.map(\.isWithin) == [false, false, true, false, false, false])
        #expect(order.transactions.map(\.follows) == [nil, "w1", "w2", "w3", "w4", "w5"])
        #expect(order.shown(at: day(50))?.item == "w3" && order.turns(after: day(50)) == day(80))
        #expect(order.turns(after: day(160)) == nil)
    }

    @Test("a purchase in grace is no resubscription; one in billing retry is")
    func grace() {
        let grace = renewal(signed: day(30), renews: day(30), retry: true, grace: day(46), reported: 4)
        let within = orders([sold("1", 0...30), sold("2", 40...70)], [grace])
        #expect(within.first?.transactions.last?.relation == .renewal)
        let retry = renewal(signed: day(30), renews: day(30), retry: true, reported: 3)
        let after = orders([sold("1", 0...30), sold("2", 40...70)], [retry])
        #expect(after.first?.transactions.last?.relation == .resubscription)
    }

    @Test("what a member of the family bought, and what was assigned, is no order")
    func shared() {
        for ownership in ["FAMILY_SHARED", "ASSIGNED"] {
            #expect(orders([sold("1", 0...30) { $0.ownership = ownership }]).isEmpty)
        }
    }

    @Test("a renewal that never begins is void, and is not shown")
    func void() {
        let order = orders([
            sold("1", 0...30), sold("2", 30...60, renewal: true, signed: day(29, hours: 12)),
            sold("3", 29...59, product: "premium", signed: day(29, hours: 18)) {
                $0.purchasedAt = day(29, hours: 18)
            },
        ]).first
        #expect(order?.transactions.filter(\.isVoid).map(\.item) == ["w2"])
        #expect(order?.shown(at: day(40))?.item == "w3")
    }

    @Test(
        "a refund without a share is of all; a share is rounded half up, and is at most the price",
        arguments: [
            (nil, nil, 9_990), (nil, RevocationType.refundFull, 9_990), (50_000, .refundProrated, 4_995),
            (33_333, nil, 3_330), (5, nil, 0), (6, nil, 1), (100_000, .refundProrated, 9_990), (250_000, nil, 9_990),
            (40_000, .refundFull, 9_990),
        ] as [(Int64?, RevocationType?, Int64)])
    func amounts(_ share: Int64?, _ type: RevocationType?, _ amount: Int64) {
        let transaction = refunds([
            sold("1", 0...30),
            sold("1", 0...30, signed: day(11), digest: 1) {
                ($0.revokedAt, $0.revocationPercentage, $0.revocationType) = (day(10), share, type)
            },
        ])
        let isPart = share.map { $0 < 100_000 && type != .refundFull } ?? false
        #expect(
            transaction?.refunds == [BookedRefund(.refund, at: day(10), amount: amount, isComputed: isPart)])
        #expect(transaction?.refunded == amount && transaction?.refundedAt == day(10))
    }

    @Test("a higher share is a further refund of the difference, a lower one and none are reversals")
    func history() {
        let revoked = { (signed: Int64, at: Int64, share: Int64, number: UInt8) in
            sold("1", 0...30, price: 10_000, signed: day(signed), digest: number) {
                ($0.revokedAt, $0.revocationPercentage) = (day(at), share)
            }
        }
        let records = [
            sold("1", 0...30, price: 10_000), revoked(11, 10, 25_000, 1), revoked(13, 12, 60_000, 2),
            revoked(14, 12, 60_000, 3), revoked(15, 12, 40_000, 4),
            sold("1", 0...30, price: 10_000, signed: day(16), digest: 5), revoked(18, 17, 100_000, 6),
        ]
        let rows: [BookedRefund] = [
            BookedRefund(.refund, at: day(10), amount: 2_500, isComputed: true),
            BookedRefund(.refund, at: day(12), amount: 3_500, isComputed: true),
            BookedRefund(.reversal, at: day(15), amount: 2_000, isComputed: true),
            BookedRefund(.reversal, at: day(16), amount: 4_000, isComputed: true),
            BookedRefund(.refund, at: day(17), amount: 10_000),
        ]
        #expect(refunds(records)?.refunds == rows)
        #expect(refunds(records.reversed())?.refunds == rows)
        #expect(refunds(records)?.refunded == 10_000 && refunds(records)?.revokedShare == 100_000)
        #expect(
            refunds(Array(records.prefix(6)))?.refunded == 0 && refunds(Array(records.prefix(6)))?.refundedAt == nil)
    }

    @Test(
        "a part that Apple does not state is not known, until a later record states it; a seat taken away is no money")
    func unknown() {
        let prorated = sold("1", 0...30, signed: day(11), digest: 1) {
            ($0.revokedAt, $0.revocationType) = (day(10), .refundProrated)
        }
        let unstated = refunds([sold("1", 0...30), prorated])
        #expect(unstated?.refunds == [BookedRefund(.refund, at: day(10), amount: nil)])
        #expect(unstated?.revokedShare == nil && unstated?.refunded == nil && unstated?.refundedAt == day(10))
        let stated = refunds([
            sold("1", 0...30), prorated,
            sold("1", 0...30, signed: day(12), digest: 2) {
                ($0.revokedAt, $0.revocationType, $0.revocationPercentage) = (day(10), .refundProrated, 20_000)
            },
        ])
        #expect(stated?.refunds == [BookedRefund(.refund, at: day(10), amount: 1_998, isComputed: true)])
        for type in [RevocationType.familyRevoke, .assignmentRevoke] {
            let revoked = refunds([
                sold("1", 0...30),
                sold("1", 0...30, signed: day(11), digest: 1) { ($0.revokedAt, $0.revocationType) = (day(10), type) },
            ])
            #expect(revoked?.refunds == [BookedRefund(.revoke, at: day(10), amount: nil)])
            #expect(revoked?.refunded == 0 && revoked?.revokedShare == 0 && revoked?.refundedAt == nil)
        }
    }

    @Test("a trial that is taken back is no refund of money; a copy that was never taken back takes back nothing")
    func free() {
        let trial = refunds([
            sold("1", 0...30, price: 0),
            sold("1", 0...30, price: 0, signed: day(11), digest: 1) { $0.revokedAt = day(10) },
        ])
        #expect(trial?.refundedAt == nil && trial?.refunded == 0)
        let copied = orders([
            bought(Self.id, .nonConsumable, on: 0, revoked: 10, signed: 11),
            bought("1001", .nonConsumable, on: 20, price: nil, first: 0),
        ])
        #expect(copied.map { $0.transactions[0].refunds.map(\.kind) } == [[.refund]])
    }

    @Test("an absent price stays absent; of a refund of it there is no amount")
    func unpriced() {
        let transaction = refunds([
            sold("1", 0...30, price: nil),
            sold("1", 0...30, price: nil, signed: day(11), digest: 1) { $0.revokedAt = day(10) },
        ])
        #expect(transaction?.price == nil && transaction?.refunded == nil && transaction?.revokedShare == 100_000)
        #expect(transaction?.refunds == [BookedRefund(.refund, at: day(10), amount: nil)])
    }

    @Test(
        "restored copies of a non-consumable are neither transactions nor money; bought again after a refund, it is another order"
    )
    func nonConsumables() {
        let copies = orders([
            bought(Self.id, .nonConsumable, on: 0), bought("1001", .nonConsumable, on: 5, first: 0),
        ])
        #expect(copies.map(\.key) == [Self.id] && copies[0].transactions.map(\.price) == [4_990])
        let again = orders([
            bought(Self.id, .nonConsumable, on: 0, revoked: 10, signed: 11),
            bought("1002", .nonConsumable, on: 20),
        ])
        #expect(again.map(\.key) == [Self.id, "1002"])
        #expect(again.map { $0.transactions.count } == [1, 1] && again[1].originallyAt == day(20))
        #expect(again.map { $0.transactions[0].refunds.count } == [1, 0])
    }

    @Test("each consumable and each term is an order, also where they share an originalTransactionId")
    func transactions() {
        for kind in [ProductType.consumable, .nonRenewingSubscription] {
            let orders = orders([bought(Self.id, kind, on: 0), bought("1001", kind, on: 5, first: 0)])
            #expect(orders.map(\.key) == [Self.id, "1001"])
            #expect(orders.allSatisfy { $0.plan == (kind == .consumable ? .consumable : .nonRenewing) })
        }
    }

    @Test("the books of a batch are those that differ from the facts before, and what follows them")
    func changes() {
        let known = PurchaseFacts(transactions: [sold("2", 30...60, renewal: true), sold("3", 60...90, renewal: true)])
        func change(_ records: [TransactionFact], since: Timestamp = .distantFuture) -> BookedChange {
            var facts = known
            for record in records { facts.merge(record) }
            let state = PurchaseState(facts)
            return state.bookedChange(
                of: Self.id, state.touchedPeriods(after: records, upon: known), upon: known, since: since,
                from: .distantPast, before: { PurchaseState(known) })
        }
        // The same again, signed later.
        #expect(change([sold("3", 60...90, renewal: true, signed: day(70), digest: 1)]).isEmpty)
        let earlier = change([sold("1", 0...30)])
        #expect(earlier.orders.map { $0.changed.map(\.item) } == [["w1", "w2", "w3"]])
        #expect(earlier.orders[0].changed.map(\.relation) == [.initial, .renewal, .renewal])
        // A renewal turns out to have been charged ahead of another plan, and never begins: what follows it follows another one.
        let plans = PurchaseFacts(transactions: [
            sold("1", 0...30), sold("2", 30...60, renewal: true, signed: day(40)),
            sold("3", 29...59, product: "premium", signed: day(41), digest: 2),
            sold("4", 59...89, product: "premium", renewal: true, digest: 3),
        ])
        let early = sold("2", 30...60, renewal: true, signed: day(28, hours: 12), digest: 4)
        var all = plans
        all.merge(early)
        let state = PurchaseState(all)
        let void = state.bookedChange(
            of: Self.id, state.touchedPeriods(after: [early], upon: plans), upon: plans, since: .distantFuture,
            from: .distantPast, before: { PurchaseState(plans) })
        #expect(void.orders.first?.changed.last.map { [$0.item, $0.follows] } == ["w4", "w3"])
        let refund = change([sold("2", 30...60, renewal: true, signed: day(50), digest: 1) { $0.revokedAt = day(49) }])
        #expect(refund.orders.map { $0.changed.map(\.item) } == [["w2", "w3"]])
        #expect(change([], since: day(45)).orders.map { $0.changed.map(\.item) } == [["w3"]])
    }
}
