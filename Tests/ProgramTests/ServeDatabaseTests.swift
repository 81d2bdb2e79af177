import Foundation
import Simulation
import Synchronization
import TestSupport
import Testing

@testable import storehook

@Suite("storehook serve, and a database that is stopped and started under load", .serialized)
struct ServeDatabaseTests {
    /// What was answered with success: all of it has to be there afterwards.
    private struct Acknowledged: Sendable {
        var purchases: [String] = []
        var usage: [(account: String, key: String)] = []
        var trials: [String] = []
        /// How many answers there were of each status.
        var answers: [Int: Int] = [:]
        /// What came without being described, or without saying when to come back.
        var odd: [String] = []
    }

    private static let catalog = """
        app: com.example.storehook
        tiers: [{id: free}, {id: pro}]
        products:
          - {id: basic, product_id: com.example.storehook.basic.monthly, tier: pro, period: month, price: 4.99, currency: USD}
        features:
          - {id: words, limits: {free: 1000000 in total, pro: 1000000 in total}}
        trial: {tier: pro, days: 7, products: [basic]}
        """

    /// Customers who ask for one thing after the other until they are told to stop.
    private final class Customers: Sendable {
        let api: ServedAPI
        let authority: SimulatedAuthority
        let token: @Sendable (String) async throws -> String
        let acknowledged = Mutex(Acknowledged())
        let isOver = Mutex(false)

        init(
            _ api: ServedAPI, _ authority: SimulatedAuthority,
            token: @escaping @Sendable (String) async throws -> String
        ) {
            self.api = api
            self.authority = authority
            self.token = token
        }

        func count(_ status: Int) -> Int { acknowledged.withLock { $0.answers[status] ?? 0 } }

        /// One customer after the other; each buys, writes and tries.
        func live(_ number: Int) async throws {
            var round = 0
            while !isOver.withLock({ $0 }) {
                round += 1
                let lane = number * 100_000 + round
                let account = "customer-\(lane)"
                let token = try await token(account)
                if try await ask("/v1/subscriptions/trial/start", token, "{}") {
                    acknowledged.withLock { $0.trials.append(account) }
                }
                let key = "key-\(lane)"
                let report = #"{"amount":1,"idempotencyKey":"\#(key)"}"#
                if try await ask("/v1/usage/words", token, report) {
                    acknowledged.withLock { $0.usage.append((account, key)) }
                }
                let buyer = "buyer-\(lane)"
                if try await ask(
                    "/v1/subscriptions/verify", try await self.token(buyer),
                    #"{"signedTransactionInfo":"\#(purchase(lane))"}"#)
                {
                    acknowledged.withLock { $0.purchases.append(buyer) }
                }
            }
        }

        private func purchase(_ lane: Int) -> String {
            var customer = SimulatedSubscriber(
                app: SimulatedApp.example.in(.production), lane: lane, seed: UInt64(lane))
            customer.buy(.basicMonthly, at: Milliseconds(Int64(Date().timeIntervalSince1970 * 1000)) - 60_000)
            return authority.sign(customer.takeNotifications().first?.transaction?.json ?? [])
        }

        private func ask(_ path: String, _ token: String, _ body: String) async throws -> Bool {
            let answer = try await api.send(path, token: token, body: body)
            return acknowledged.withLock { acknowledged in
                acknowledged.answers[answer.status, default: 0] += 1
                if answer.status == 503, (answer.retryAfter ?? 0) > 0 { return false }
                if answer.status != 200 { acknowledged.odd.append("\(path): \(answer.status) \(answer.body)") }
                return answer.status == 200
            }
        }
    }

    @Test(
        "answers 503 with Retry-After while it is away, is good again by itself, and has all that it said yes to",
        arguments: sampled(["stop", "crash"]))
    func restart(how: String) async throws {
        try await PrivateServer.with { server in
            try await withSite { site in
                try await withTokenKey { settings in
                    let own = ["DATABASE_URL": server.url]
                    #expect(try await site.run("migrate", with: own).ending == .exited(0))
                    try await site.apply(catalog: Self.catalog, with: own)
                    let key = try DemoKey.loadOrMake(
                        file: DemoKey.file(ofJWKS: try #require(settings["STOREHOOK_JWT_KEYS"])))
                    let more = settings.merging(own) { $1 }.merging(["STOREHOOK_REQUESTS_PER_ADDRESS": "10000000"]) {
                        $1
                    }
                    try await site.with(["serve", "--port", "0"], more) { program in
                        let customers = Customers(
                            ServedAPI(port: try #require(program.port)), site.authority
                        ) { account in
                            let now = Int64(Date().timeIntervalSince1970)
                            return try await key.sign(
                                DemoClaims(
                                    sub: account, iss: "storehook-demo", aud: "storehook", iat: now, exp: now + 3600))
                        }
                        try await Self.rehearse(customers, server, how)
                    }
                }
            }
        }
    }

    private static func rehearse(_ customers: Customers, _ server: PrivateServer, _ how: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...6 { group.addTask { try await customers.live(number) } }
            do {
                try await eventually("they are served") { customers.count(200) > 60 }
                if how == "stop" { await server.stop() } else { await server.crash() }
                try await eventually("they are told to come back") { customers.count(503) > 30 }
                try await server.startAgain()
                let before = customers.count(200)
                try await eventually("they are served again") { customers.count(200) > before + 60 }
            } catch {
                customers.isOver.withLock { $0 = true }
                throw error
            }
            customers.isOver.withLock { $0 = true }
            try await group.waitForAll()
        }
        let acknowledged = customers.acknowledged.withLock { $0 }
        #expect(acknowledged.odd.isEmpty, "\(acknowledged.odd.prefix(3))")
        #expect(!acknowledged.purchases.isEmpty && !acknowledged.usage.isEmpty && !acknowledged.trials.isEmpty)
        for account in acknowledged.purchases {
            let status = try await customers.api.send("/v1/subscriptions/status", token: customers.token(account))
            #expect(status.object?["status"] as? String == "active", "\(account)")
        }
        for (account, key) in acknowledged.usage {
            let again = try await customers.api.send(
                "/v1/usage/words", token: customers.token(account),
                body: #"{"amount":1,"idempotencyKey":"\#(key)"}"#)
            #expect(
                again.object?["duplicate"] as? Bool == true && again.object?["used"] as? Int == 1,
                "\(account): \(again.body)")
        }
        for account in acknowledged.trials {
            let trial = try await customers.api.send(
                "/v1/subscriptions/trial/status", token: customers.token(account))
            #expect(trial.object?["started"] as? Bool == true, "\(account)")
        }
    }
}
