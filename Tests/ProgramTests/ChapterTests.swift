import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

/// A reader of the README or of a chapter types what stands there, into an operator's terminal where everything runs: a shop in Apple's place, a
/// receiver, a worker, the account API and an endpoint.
@Suite("The commands in README and chapters")
struct ChapterTests {
    /// What is typed here, in this order: endpoints and extensions have the numbers in which they were made.
    static let documents =
        ["README.md"]
        + [
            "AskApple", "Client", "Catalog", "Configuration", "Events", "Figures", "NothingIsMissing", "Operate",
            "Orders",
            "OtherEvidence",
            "PointAppleAtIt", "QuickStart", "RefundRequests", "RenewalExtensions", "Retention", "Staff", "StandIn",
        ].map(Document.chapter) + ["sql/README.md"]

    /// A purchase in the shop, as it answered.
    private struct Purchase {
        let members: [String: String]

        func callAsFunction(_ name: String) throws -> String { try #require(members[name], "\(name)") }
    }

    /// What stands in the place of what the documents show.
    private struct World {
        var bob: Purchase
        /// Of the account user-42, which wants the money back.
        var refunding: Purchase
        /// Apple's request for data about the refund.
        var request: String
        /// Dead letters.
        var letters: [Int64]
        /// The numbers of two orders that were paid for.
        var orders: [String]
        /// The endpoint's URL.
        var endpoint: String
    }

    @Test("are typed as they stand, and each succeeds")
    func typed() async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                try await withTokenKey { keys in
                    let endpoint = try ScriptedServer { _ in .json(200, "") }
                    defer { endpoint.stop() }
                    try await site.with(["receive", "--port", "0"]) { receiver in
                        let port = try #require(receiver.port)
                        let shop = try await RunningAppStore(
                            site, keys: directory + "/keys", ["--notify", "http://127.0.0.1:\(port)/webhooks/apple"])
                        do {
                            try await typed(site, shop, keys, directory, "http://127.0.0.1:\(endpoint.port)/webhooks")
                            await shop.discard()
                        } catch {
                            await shop.discard()
                            throw error
                        }
                    }
                }
            }
        }
    }

    private func typed(
        _ site: Site, _ shop: RunningAppStore, _ keys: [String: String], _ directory: String, _ endpoint: String
    ) async throws {
        let settings = keys.merging(try makeEndpointSettings(in: directory)) { $1 }.merging([
            "STOREHOOK_TRUSTED_ROOTS": try #require(shop.announcement["rootFingerprint"]),
            "STOREHOOK_APPLE_KEYS": try #require(shop.announcement["keysFile"]), "STOREHOOK_APPLE_URL": shop.url,
        ]) { $1 }
        try await site.apply(catalog: shopCatalog)
        try await site.with(["work"], settings) { _ in
            try await site.with(["serve", "--port", "0"], settings) { api in
                let world = try await world(site, shop, endpoint)
                let ports = [(shown: 8081, own: try #require(api.port)), (shown: 8090, own: try port(of: shop.url))]
                var terminal = try DocumentTerminal(site, settings, directory, ports: ports)
                let token = try await terminal.type("storehook demo token alice")
                terminal.environment["token"] = token.trimmingCharacters(in: .whitespacesAndNewlines)
                terminal.environment["CLIENT_EXAMPLE_API"] = "http://127.0.0.1:\(ports[0].own)"
                terminal.environment["CLIENT_EXAMPLE_STAND_IN"] = shop.url
                try terminal.write(try world.bob("signedTransactionInfo"), "signed-transaction.jws")
                try terminal.write(try world.bob("receiptData"), "receipt.txt")
                for path in Self.documents { try await type(try Document(path), in: terminal, world) }
                try await site.untilDone()
                let books = try await site.outbox.conservation(audit: true)
                #expect(books.isWhole, "\(books)")
            }
        }
    }

    private func type(_ document: Document, in first: DocumentTerminal, _ world: World) async throws {
        #expect(document.blocks.contains { $0.isTyped }, "there is nothing to type in \(document.path)")
        var terminal = first
        terminal.replaced = try Self.replaced(in: document.path, world)
        if document.path == Document.chapter("NothingIsMissing") {
            // Apple's limit for Sandbox is a tenth of Production's: the history there would take most of a minute.
            terminal.environment["STOREHOOK_ENVIRONMENTS"] = "Production"
        }
        // The chapters' own examples are good, too.
        if let example = document.block(in: "yaml")?.lines.joined(separator: "\n") {
            switch document.path {
            case Document.chapter("RefundRequests"): try terminal.write(example, "policy.yaml")
            case Document.chapter("Catalog"):
                try terminal.write(example, "example.yaml")
                _ = try await terminal.type("storehook catalog check example.yaml")
            case Document.chapter("Figures"):
                try terminal.write(example, "example-commission.yaml")
                _ = try await terminal.type("storehook commission apply example-commission.yaml")
            default: break
            }
        }
        try await terminal.type(document)
    }

    /// What a document shows, and what is typed in its place.
    private static func replaced(in path: String, _ world: World) throws -> [(shown: String, own: String)] {
        let original = "originalTransactionId"
        var apart: [(shown: String, own: String)] = []
        switch path {
        case Document.chapter("Operate"):
            apart = [
                ("show 17", "show \(world.letters[0])"),
                ("discard 17 18", "discard \(world.letters[0]) \(world.letters[1])"),
            ]
        case Document.chapter("RenewalExtensions"):
            // Another customer's: Apple extends a subscription twice a year.
            apart = [("2000000123456789", try world.refunding(original)), ("show 17", "show 1")]
        default: break
        }
        let everywhere: [(shown: String, own: String)] = [
            ("https://example.com/webhooks", world.endpoint),
            ("com.example.pro", "com.example.storehook.basic.monthly"),
            ("2000000123456789", try world.bob(original)), ("2251000240000003", try world.bob(original)),
            ("ORIGINAL_ID", try world.bob(original)), ("MQ2XKL2XYZ", try world.bob("orderId")),
            ("ORD-20260131-0001", world.orders[0]), ("ORD-20260131-0002", world.orders[1]),
            ("NOTIFICATION_UUID", world.request), ("notification UUID", "notification \(world.request)"),
        ]
        // What comes first is replaced first.
        return apart + everywhere
    }

    /// What has happened before the reader types: purchases, a cancellation, a request for a refund, and posts that Apple never signed.
    private func world(_ site: Site, _ shop: RunningAppStore, _ endpoint: String) async throws -> World {
        let alice = try await buy("basic.monthly", "8c1aa1a3-5796-5a41-af00-ab65ff930c25", in: shop)
        try await shop.shop(
            "cancellations", #"{"originalTransactionId":"\#(try alice("originalTransactionId"))"}"#)
        let bob = try await buy("premium.monthly", "11111111-2222-4333-8444-555555555555", in: shop)
        let refunding = try await buy("premium.monthly", "42ca334f-18cb-59e1-9616-a1dca64eb9b4", in: shop)
        try await shop.shop(
            "consumption-requests", #"{"transactionId":"\#(try refunding("transactionId"))","reason":"OTHER"}"#)
        // For user-4711.
        _ = try await buy("basic.yearly", "a91478f5-6d1c-5b46-aafa-eec3bbe9bb7d", in: shop)
        try await site.outbox.store((1...3).map { Array("junk.\($0).junk".utf8) })
        // Of an app that Apple signs for and that is not served here.
        let apple = try SimulatedAuthority.loadOrGenerate(
            in: URL(fileURLWithPath: try #require(shop.announcement["privateKeyFile"])).deletingLastPathComponent().path
        )
        var stranger = SimulatedSubscriber(app: SimulatedApp(bundleId: "com.example.other"), lane: 9, seed: 9)
        stranger.buy(.basicMonthly, at: Milliseconds(Date().timeIntervalSince1970 * 1000) - 60_000)
        try await site.outbox.store(stranger.takeNotifications().map { Array($0.signed(by: apple).utf8) })
        try await eventually("all of it is applied, and Apple's request is noted") {
            try await site.value(
                """
                select (select count(*) = 4 from storehook.subscription_status)
                   and exists (select from storehook.subscription_status
                                where app_account_token = '8c1aa1a3-5796-5a41-af00-ab65ff930c25'
                                  and status = 'cancelled')
                   and (select count(*) = 1 from storehook.consumption_answers)
                   and (select count(*) = 4 from storehook.dead_letters_open)
                """)
        }
        try await eventually("orders have their numbers") {
            try await site.value("select count(number) >= 2 and count(number) = count(*) from storehook.orders")
        }
        let orders = try await site.pool.query(
            """
            select o.number from storehook.orders o join storehook.order_totals t using (environment, bundle_id, order_key)
             where t.paid > 5000 and t.refunded = 0 order by o.number limit 2
            """
        ).map { try $0.decode(0, as: String.self) }
        try #require(orders.count == 2)
        return World(
            bob: bob, refunding: refunding,
            request: try await site.value(
                "select notification_uuid::text from storehook.notifications where type = 'CONSUMPTION_REQUEST'"),
            letters: try await site.pool.query(
                "select id from storehook.dead_letters_open where reason = 'malformed' order by id"
            )
            .map { try $0.decode(0) },
            orders: orders, endpoint: endpoint)
    }

    /// A customer buys in the shop.
    private func buy(_ product: String, _ token: String, in shop: RunningAppStore) async throws -> Purchase {
        let text = try await shop.shop(
            "purchases",
            """
            {"productId":"com.example.storehook.\(product)","environment":"Production","appAccountToken":"\(token)"}
            """)
        let sold = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
        return Purchase(members: sold.compactMapValues { $0 as? String })
    }

    private func port(of url: String) throws -> Int {
        try #require(URLComponents(string: url)?.port)
    }
}
