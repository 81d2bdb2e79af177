import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import AppleSync
import Base
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import Simulation
import StandInSupport
import Subscriptions
import TestSupport
import Testing

@Suite("An account")
struct AccountRefreshTests {
    fileprivate static let monthly = "com.example.storehook.premium.monthly"
    private static let account = "somebody@example.com"
    fileprivate static var token: UniqueIdentifier { AccountToken.of(account) }

    /// A site whose Apple is the stand-in. What the stand-in posts reaches no receiver.
    private struct Shop: Sendable {
        let site: Site
        let standIn: RunningStandIn

        static func with(_ body: @escaping @Sendable (Shop) async throws -> Void) async throws {
            try await withSite { site in
                try await RunningStandIn.with { standIn in try await body(Shop(site: site, standIn: standIn)) }
            }
        }

        /// A customer buys, and their app hands in what Apple signed. Returns the customer and the original transaction.
        func buy(
            _ token: UniqueIdentifier, customer: String? = nil
        ) async throws -> (customer: String, original: String) {
            let more = customer.map { #","customer":"\#($0)""# } ?? ""
            let sold = try await standIn.shop(
                "purchases",
                #"{"productId":"\#(AccountRefreshTests.monthly)","environment":"Production","appAccountToken":"\#(token)"\#(more)}"#
            )
            guard let original = sold.string("originalTransactionId"), let customer = sold.string("customer"),
                let jws = sold.string("signedTransactionInfo")
            else { throw NeverHappened("it is sold") }
            try await site.outbox.store([Evidence(.transaction, from: .client, Array(jws.utf8))])
            return (customer, original)
        }

        func cancel(_ original: String) async throws {
            try await standIn.shop("cancellations", #"{"originalTransactionId":"\#(original)"}"#)
        }

        func workOff() async throws { try await site.workOff(trusting: standIn.trustedRoots) }

        func refresh(over transport: (any AppStoreTransport)? = nil) async throws -> AccountRefresh.Report {
            let client = try transport.map { try standIn.client(over: $0) } ?? standIn.client
            return try await AccountRefresh(site.history, AppleClients([client], in: [.production])).run(
                AccountRefreshTests.token)
        }

        /// Whether a subscription will renew, by what is derived: in a minute, for what the simulator signs may be some seconds ahead.
        func willRenew(_ original: String) async throws -> Bool? {
            try await site.value(
                """
                select will_renew from storehook.status_at(now() + interval '1 minute')
                 where original_transaction_id = \(original)
                """, as: Bool?.self)
        }
    }

    @Test("has each customer's history asked for once, whatever it bought, and what Apple says of it is applied")
    func once() async throws {
        try await Shop.with { shop in
            let first = try await shop.buy(Self.token)
            let second = try await shop.buy(Self.token)
            let stranger = try await shop.buy(AccountToken.of("somebody else"))
            try await shop.workOff()
            for original in [first.original, second.original, stranger.original] { try await shop.cancel(original) }
            let asking = CountingTransport(base: shop.standIn.transport)
            let report = try await shop.refresh(over: asking)
            #expect(report.token == Self.token && report.purchases == 2 && report.answers.count == 2)
            #expect(report.queued == 0 && report.unknown.isEmpty && report.unasked.isEmpty && report.trouble == nil)
            #expect(asking.count(of: "/inApps/v2/history/") == 2)
            try await shop.workOff()
            #expect(try await shop.willRenew(first.original) == false)
            #expect(try await shop.willRenew(second.original) == false)
            // Apple was not asked about the other customer's purchase.
            #expect(try await shop.willRenew(stranger.original) == nil)
            // Doing it again changes nothing.
            #expect(try await shop.refresh().answers.map(\.refresh.stored) == [0, 0])
            #expect(try await shop.site.isWhole())
        }
    }

    @Test("of a customer who bought several things has one history, and one question")
    func oneCustomer() async throws {
        try await Shop.with { shop in
            let first = try await shop.buy(Self.token)
            let sold = try await shop.standIn.shop(
                "purchases",
                """
                {"productId":"com.example.storehook.lifetime.unlock","environment":"Production","customer":"\(first.customer)",\
                "appAccountToken":"\(Self.token)"}
                """)
            let jws = try #require(sold.string("signedTransactionInfo"))
            try await shop.site.outbox.store([Evidence(.transaction, from: .client, Array(jws.utf8))])
            try await shop.workOff()
            let asking = CountingTransport(base: shop.standIn.transport)
            let report = try await shop.refresh(over: asking)
            #expect(report.purchases == 2 && report.answers.count == 1)
            #expect(asking.count(of: "/inApps/v2/history/") == 1)
        }
    }

    @Test("that nobody knows has no purchases; those that nobody can be asked about, or Apple does not know, are named")
    func unasked() async throws {
        try await Shop.with { shop in
            let none = try await shop.refresh()
            #expect(none.purchases == 0 && none.answers.isEmpty)
            let token = UUID(uuidString: "\(Self.token)")
            for (environment, bundle, id) in [
                ("Sandbox", Site.app.bundleId, "1"), ("Production", "com.other", "2"),
                ("Production", Site.app.bundleId, "3"),
            ] {
                try await shop.site.pool.query(
                    """
                    insert into storehook.one_time_purchases
                           (environment, bundle_id, original_transaction_id, kind, app_account_token, transaction_id,
                            purchased_at, quantity, revoked_share)
                    values (\(environment), \(bundle), \(id), 'non_consumable', \(token), \(id), now(), 1, 0)
                    """)
            }
            let report = try await shop.refresh()
            #expect(report.purchases == 3 && report.unknown == ["3"] && Set(report.unasked) == ["1", "2"])
            #expect(report.answers.isEmpty && report.queued == 0)
        }
    }

    @Test("is asked about by a worker later where Apple gives no answer now, or it has too many customers")
    func later() async throws {
        try await Shop.with { shop in
            _ = try await shop.buy(Self.token)
            try await shop.workOff()
            let away = LossyTransport(base: shop.standIn.transport, method: "GET", part: "/inApps/", loss: .proxy)
            let report = try await shop.refresh(over: away)
            #expect(
                report.answers.isEmpty && report.queued == 1 && report.trouble?.hasPrefix("unexpected_status") == true)
            let queued: PostgresQuery = "select count(*) from storehook.refresh_queue"
            #expect(try await shop.site.value(queued) == Int64(1))
            // One purchase of each of many customers.
            for _ in 0..<AccountRefresh.mostQuestions { _ = try await shop.buy(Self.token) }
            try await shop.workOff()
            let many = try await shop.refresh()
            #expect(many.purchases == AccountRefresh.mostQuestions + 1)
            #expect(many.answers.count == AccountRefresh.mostQuestions && many.queued == 1 && many.trouble == nil)
        }
    }
}
