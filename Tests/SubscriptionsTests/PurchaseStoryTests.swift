import AppStorePayloads
import Base
import Simulation
import Stories
import Subscriptions
import TestSupport
import Testing

@Suite("The story of a purchase")
struct PurchaseStoryTests {
    /// 2026-02-01T00:00:00Z
    private static let start: Milliseconds = 1_769_904_000_000

    @Test("is the same whatever arrived when, has an entry for each notification, and fits its width")
    func catalogue() throws {
        var generator = TestSupport.SeededGenerator()
        var words: Set<String> = []
        for story in Story.catalogue {
            for (key, told) in try ToldEvidence.byPurchase(story.performed().notifications) {
                let expected = PurchaseStory(told, of: key)
                #expect(expected.entries.count == told.count, "\(story.name)")
                #expect(expected.entries.map(\.signedAt) == told.map(\.signedAt).sorted(), "\(story.name)")
                for _ in 0..<20 {
                    let other = PurchaseStory(told.shuffled(using: &generator), of: key)
                    #expect(other == expected, "\(story.name), seed \(generator.seed)")
                }
                for entry in expected.entries {
                    #expect(entry.words.count <= PurchaseStory.wordsWidth, "\(entry.words)")
                    #expect(!entry.words.isEmpty && !entry.changes.isEmpty)
                    words.insert(entry.words)
                }
            }
        }
        #expect(words.count > 60)
    }

    @Test("tells what a notification and a record by itself both bring where the notification stands, in any order")
    func records() throws {
        var generator = TestSupport.SeededGenerator()
        for story in Story.catalogue {
            for (key, told) in try ToldEvidence.byPurchase(story.performed().notifications) {
                let records = told.flatMap { piece in
                    [
                        piece.transaction.map { PurchaseEvidence(signedAt: $0.signedAt, transaction: $0) },
                        piece.renewal.map { PurchaseEvidence(signedAt: $0.signedAt, renewal: $0) },
                    ].compactMap(\.self)
                }
                let expected = PurchaseStory(told, of: key)
                let both = PurchaseStory(told + records, of: key)
                #expect(both.entries.filter { $0.recordDigest == nil }.map(\.words) == expected.entries.map(\.words))
                #expect(
                    both.entries.filter { $0.recordDigest != nil }.allSatisfy {
                        $0.changes == [PurchaseChange(.nothingNew)]
                    })
                // Of records alone the story can be told as well.
                let alone = PurchaseStory(records, of: key)
                #expect(alone.entries.count == records.count)
                for _ in 0..<5 {
                    #expect(PurchaseStory((told + records).shuffled(using: &generator), of: key) == both)
                    #expect(PurchaseStory(records.shuffled(using: &generator), of: key) == alone)
                }
            }
        }
    }

    @Test("says in words what happened, with the status that was true then")
    func golden() throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        func day(_ day: Int64) -> Milliseconds { Self.start + day * 86_400_000 }
        let line = customer.buy(.basicMonthly, at: day(0))
        let first = customer.latest(of: line)
        customer.renew(line, at: day(29))
        customer.switchAutoRenew(line, on: false, at: day(40))
        customer.switchAutoRenew(line, on: true, at: day(41))
        customer.failToRenew(line)
        customer.recover(line, at: day(62))
        customer.raisePrice(line, toDollarMilliunits: 5990, needsConsent: true, at: day(63))
        customer.acceptPrice(line, at: day(64))
        customer.upgrade(line, to: .premiumYearly, at: day(70))
        customer.requestRefund(of: first, at: day(75))
        customer.refund(first, at: day(76))
        customer.downgrade(line, to: .basicMonthly, at: day(80))
        customer.cancelDowngrade(line, at: day(81))
        customer.extend(line, by: 86_400_000, at: day(82))
        customer.switchAutoRenew(line, on: false, at: day(90))
        customer.expire(line)
        try #expect(
            rows(customer.takeNotifications()) == [
                "2026-02-01 bought basic.monthly until 3 March, 4.99 USD | active",
                "2026-03-02 renewed until 2 April, 4.99 USD | active",
                "2026-03-13 auto-renew switched off | cancelled",
                "2026-03-14 auto-renew switched on | active",
                "2026-04-02 charge failed, no grace; Apple tries again | billing_retry",
                "2026-04-04 charge went through, paid until 4 May, 4.99 USD | active",
                "2026-04-05 asked to agree to a higher price | active",
                "2026-04-06 higher price agreed to, or no consent needed | active",
                "2026-04-12 upgraded to premium.yearly until 12 April 2027, 89.99 USD | active",
                "2026-04-17 refund of 1 February to 3 March asked for: unintended purchase | active",
                "2026-04-18 refund (other reason) of 1 February to 3 March: 4.99 USD went back | active",
                "2026-04-22 will renew as basic.monthly | active",
                "2026-04-23 will renew as premium.yearly after all | active",
                "2026-04-24 extended until 13 April 2027 | active",
                "2026-05-02 auto-renew switched off | cancelled",
                "2027-04-13 expired: auto-renew was off | expired",
            ])
    }

    @Test("tells of what is bought once, too: in part refunded, and that taken back")
    func oneTime() throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let coins = customer.charge(.coins, quantity: 3, at: Self.start)
        customer.refund(coins, form: .prorated(50), at: Self.start + 86_400_000)
        customer.reverseRefund(of: coins, at: Self.start + 2 * 86_400_000)
        customer.declineRefund(of: coins, at: Self.start + 3 * 86_400_000)
        customer.refund(coins, reason: 1, at: Self.start + 4 * 86_400_000)
        try #expect(
            rows(customer.takeNotifications()) == [
                "2026-02-01 bought 3 × coins.100, 2.97 USD | -",
                "2026-02-02 refund (other reason) of coins.100: 1.48 USD (50 %) went back | -",
                "2026-02-03 refund of coins.100 taken back | -",
                "2026-02-04 refund of coins.100 declined | -",
                "2026-02-05 refund (app issue) of coins.100: 2.97 USD went back | -",
            ])
    }

    @Test("says why Apple refunded as far as Apple does, and never loses that where there is no room for all")
    func refundReason() throws {
        func words(_ reason: Int64?, _ from: Timestamp, _ until: Timestamp) -> (String?, RevocationReason?) {
            let refunded = until.adding(days: -1)
            let transaction = TransactionFact(
                transactionID: "1", productID: "monthly", purchasedAt: from, expiresAt: until, revokedAt: refunded,
                revocationPercentage: 40_000, revocationReason: reason.map { RevocationReason(rawValue: $0) },
                signedAt: refunded, digest: [1])
            let piece = PurchaseEvidence(
                notificationUUID: UniqueIdentifier(high: 1, low: 1), type: .refund, signedAt: refunded,
                transaction: transaction, price: Money(milliunits: 3_086_400, currency: "USD"))
            let key = PurchaseKey(environment: "Production", bundleID: "app", originalTransactionID: "1")
            let entry = PurchaseStory([piece], of: key).entries.first
            return (entry?.words, entry?.changes.first { $0.kind == .refunded }?.refundReason)
        }
        let start = Timestamp(millisecondsSince1970: Self.start)
        let (none, nothing) = words(nil, start, start.adding(days: 30))
        #expect(none == "refund of 1 February to 3 March: 1,234.56 USD (40 %) went back" && nothing == nil)
        #expect(words(7, start, start.adding(days: 30)).0?.hasPrefix("refund (reason 7) of 1 Feb") == true)
        let (long, reason) = words(1, start.adding(days: -125), start.adding(days: 240 + 365))
        #expect(long?.hasPrefix("refund (app issue) of ") == true && reason == .appIssue, "\(long ?? "")")
        #expect(long.map { $0.count <= PurchaseStory.wordsWidth } == true)
    }

    @Test("of a purchase dated a second after its own signature does not begin with the end")
    func clockDifference() throws {
        let signedAt = Timestamp(millisecondsSince1970: Self.start)
        let transaction = TransactionFact(
            transactionID: "1", productID: "monthly", purchasedAt: signedAt.adding(seconds: 1),
            expiresAt: signedAt.adding(days: 30), signedAt: signedAt, digest: [1])
        let story = PurchaseStory(
            [PurchaseEvidence(type: .subscribed, signedAt: signedAt, transaction: transaction)], of: Self.key)
        #expect(story.entries.first?.after?.status == .active)
        #expect(story.entries.first?.changes.first?.kind == .bought)
    }

    @Test("goes on where a notification was lost: the period is told by the next one that speaks of it")
    func lost() throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let line = customer.buy(.basicMonthly, at: Self.start)
        customer.switchAutoRenew(line, on: false, at: Self.start + 5 * 86_400_000)
        let entries = try told(Array(customer.takeNotifications().dropFirst())).entries
        #expect(entries.map { $0.changes.map(\.kind) } == [[.periodTold, .autoRenewOff]])
        #expect(
            entries.first?.words == "told late: 1 February to 3 March, 4.99 USD; auto-renew switched off")
    }

    @Test("says that nothing is new where nothing is, and names a type that nobody knows")
    func nothingNew() throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        customer.buy(.basicMonthly, at: Self.start)
        var again = try #require(try ToldEvidence.evidence(customer.takeNotifications()[0]))
        let first = again.evidence
        again.evidence.signedAt = first.signedAt.adding(seconds: 5)
        again.evidence.notificationUUID = UniqueIdentifier(high: 1, low: 1)
        var unknown = again.evidence
        unknown.signedAt = first.signedAt.adding(seconds: 9)
        unknown.type = NotificationType(rawValue: "TOMORROW")
        let story = PurchaseStory([unknown, again.evidence, first], of: again.key)
        #expect(story.entries.map { $0.changes.map(\.kind) } == [[.bought], [.nothingNew], [.unknownType]])
        #expect(story.entries.last?.words == "TOMORROW is a type that this release does not know")
    }

    @Test("writes money with the decimals that its currency has")
    func money() {
        #expect(Money(milliunits: 9990, currency: "USD").words == "9.99 USD")
        #expect(Money(milliunits: 230_000, currency: "JPY").words == "230 JPY")
        #expect(Money(milliunits: 1_234_500, currency: "EUR").words == "1,234.50 EUR")
        #expect(Money(milliunits: 0, currency: "EUR").words == "free")
        #expect(Money(milliunits: 1005, currency: "KWD").words == "1.005 KWD")
        #expect(Money(milliunits: 9990, currency: "USD").share(33_333).milliunits == 3329)
    }

    private static let key = PurchaseKey(environment: "Production", bundleID: "app", originalTransactionID: "1")

    private func told(_ notifications: [UnsignedNotification]) throws -> PurchaseStory {
        let (key, evidence) = try #require(try ToldEvidence.byPurchase(notifications).first)
        return PurchaseStory(evidence.reversed(), of: key)
    }

    private func rows(_ notifications: [UnsignedNotification]) throws -> [String] {
        try told(notifications).entries.map { entry in
            "\(entry.signedAt.description.prefix(10)) \(entry.words) | \(entry.after?.status.rawValue ?? "-")"
        }
    }
}

/// Simulated notifications as a story's evidence.
enum ToldEvidence {
    static func byPurchase(
        _ notifications: [UnsignedNotification]
    ) throws -> [(PurchaseKey, [PurchaseEvidence])] {
        let evidence = try notifications.compactMap(evidence)
        return Dictionary(grouping: evidence, by: \.key).map { ($0, $1.map(\.evidence)) }
    }

    static func evidence(
        _ notification: UnsignedNotification
    ) throws -> (key: PurchaseKey, evidence: PurchaseEvidence)? {
        let heard = try HeardNotification(notification)
        guard let key = heard.purchase else { return nil }
        let payload = try notification.transaction.map { try TransactionPayload.decode($0.json) }
        let price = payload?.price.flatMap { price in
            payload?.currency.map { Money(milliunits: price, currency: $0) }
        }
        return (
            key,
            PurchaseEvidence(
                notificationUUID: UniqueIdentifier(notification.uuid),
                type: NotificationType(rawValue: notification.type),
                subtype: notification.subtype.map(NotificationSubtype.init(rawValue:)), signedAt: heard.signedAt,
                reportedStatus: heard.reportedStatus, transaction: heard.transaction, renewal: heard.renewal,
                price: price,
                consumptionRequestReason: notification.data?.consumptionRequestReason)
        )
    }
}
