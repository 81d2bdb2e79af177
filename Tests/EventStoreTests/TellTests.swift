import AccountStore
import AppStorePayloads
import Base
import EventStore
import Events
import Foundation
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

@Suite("Events as they are written")
struct TellTests {
    @Test("what a batch makes is told in its transaction, in the account's order, once however often it comes")
    func account() async throws {
        try await EventDatabase.with { site in
            let ann = UUID(token(1))
            let entry = Records.period(purchase(1), from: -31, to: -1, account: token(1))
            for _ in 0..<3 { try await site.apply([entry], at: Records.now.adding(days: -30)) }
            #expect(
                try await site.told("token = \(ann)") == ["1 subscription.started", "2 account.access_changed"])
            try await site.apply([Records.period(purchase(1), from: -1, to: 29, account: token(1), number: 1)])
            let refund = Records.period(purchase(1), from: -31, to: -1, account: token(1), revoked: 0, type: .refund)
            try await site.apply([refund])
            #expect(
                try await site.told("token = \(ann)").dropFirst(2)
                    == ["3 subscription.renewed", "4 subscription.refunded"])
            // What is told is what is read: no version is ahead of the account's own.
            let versions: Int64 = try await site.value(
                """
                select count(*) from storehook.events e join storehook.account_status_now s using (token, environment)
                 where e.version between 1 and s.version
                """)
            #expect(versions == 4)
            let body = try #require(try await site.feed().first).json(previousSequence: nil)
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
            #expect(object["type"] as? String == "subscription.started")
            let data = try #require(object["data"] as? [String: Any])
            #expect((data["cause"] as? [String: Any])?["kind"] as? String == "notification")
        }
    }

    @Test("a purchase of nobody's has an order of its own, and so has all where there is no catalog")
    func nobody() async throws {
        for (hasCatalog, account) in [(true, UniqueIdentifier?.none), (false, token(1))] {
            try await EventDatabase.with(catalog: hasCatalog) { site in
                try await site.apply([
                    Records.period(purchase(1), from: -1, to: 29, account: account),
                    Records.period(purchase(2), from: -1, to: 29, account: account, renews: false),
                ])
                let condition: PostgresQuery = "token is null and version is null and original_transaction_id = "
                for number in [1, 2] {
                    let id = purchase(number).originalTransactionID
                    let told = try await site.told("\(embedding: condition)\(id)")
                    #expect(told.first == "1 subscription.started")
                    #expect(told.count == number)
                }
            }
        }
    }

    @Test("what is rolled back was never told, and its numbers are given again")
    func rolledBack() async throws {
        struct Undo: Error {}
        try await EventDatabase.with { site in
            let entry = Records.period(purchase(1), from: -1, to: 29, account: token(1))
            let (ledger, accounts, events) = (site.ledger, site.accounts, site.events)
            await #expect(throws: Undo.self) {
                try await site.pool.withTransaction { session in
                    let news = try ledger.apply([entry], session).changes
                    let told = try events.record(news, try accounts.settle(news.map(\.key), session), session)
                    if told.count > 0 { throw Undo() }
                }
            }
            #expect(try await site.feed().isEmpty)
            try await site.apply([entry])
            #expect(try await site.feed().map(\.sequence) == [1, 2])
        }
    }

    @Test("a purchase that was there before there were events is told as it stands")
    func fill() async throws {
        try await EventDatabase.with { site in
            let (ledger, accounts) = (site.ledger, site.accounts)
            let known = (0..<3).map { number in
                Records.period(
                    purchase(1), from: Int64(number * 30 - 70), to: Int64(number * 30 - 40), account: token(1),
                    number: number)
            }
            try await site.pool.withTransaction { session in
                for entry in known {
                    _ = try accounts.settle(try ledger.apply([entry], session).changes.map(\.key), session)
                }
            }
            try await site.apply([
                Records.period(
                    purchase(1), from: -10, to: 20, account: token(1), number: 2, renews: false, revoked: nil,
                    type: .didChangeRenewalStatus)
            ])
            #expect(
                try await site.told("token = \(UUID(token(1)))")
                    == ["1 subscription.cancelled", "2 account.access_changed"])
        }
    }
}
