import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import APIKit

/// `usage=required`
@Suite("The guard, asked for what is left")
struct GuardUsageTests {
    private struct Away: Error {}

    /// A database of one account in the tier `pro`, and of its counters. It can be away, as a whole or with its counters alone.
    private final class Source: Sendable {
        struct State {
            var now = Timestamp(secondsSince1970: 1_767_225_600)
            var tier = "pro"
            var used: [String: Int64] = [:]
            var counts = 0
            var reads = 0
            var isAway = false
            var isCountAway = false
        }
        let state = Mutex(State())
        private let instant = Mutex(ContinuousClock.now)

        /// So many counters were read.
        var counts: Int { state.withLock(\.counts) }

        /// Time passes, for the guard's clock and for the database's.
        func advance(by duration: Duration) {
            instant.withLock { $0 += duration }
            state.withLock { $0.now = $0.now.adding(milliseconds: Int64(duration / .milliseconds(1))) }
        }

        /// What was used of a feature; a counter of each window.
        func use(_ used: Int64, of counter: String) { state.withLock { $0.used[counter] = used } }

        private func load() throws -> AccountView {
            try state.withLock { state in
                state.reads += 1
                let phase = AccountPhase(
                    startsAt: .distantPast, status: .active, tier: state.tier, source: .apple, expiresAt: nil)
                guard !state.isAway, let known = AccountState([phase]) else { throw Away() }
                return AccountView(
                    token: AccountToken.of("alice"), environment: "Production", instant: state.now,
                    catalog: Self.catalog, state: known)
            }
        }

        private func count(_ counter: UsageCounter) throws -> Int64 {
            try state.withLock { state in
                state.counts += 1
                guard !state.isAway, !state.isCountAway, counter.account == AccountToken.of("alice") else {
                    throw Away()
                }
                return state.used["\(counter.feature) \(counter.period) \(counter.day ?? "-")"] ?? 0
            }
        }

        private static let catalog = Catalog(
            tiers: [.init(id: "free"), .init(id: "pro"), .init(id: "premium")],
            features: [
                .init(id: "ai", limits: ["free": .no, "pro": .count(3, per: .day), "premium": .count(9, per: .day)]),
                .init(
                    id: "voice",
                    limits: ["free": .count(0, per: .month), "pro": .count(30, per: .month), "premium": .unlimited]),
                .init(id: "words", limits: ["free": .count(9, per: .total), "pro": .unlimited, "premium": .unlimited]),
                .init(id: "read", limits: ["free": .yes, "pro": .yes, "premium": .yes]),
                .init(id: "video", limits: ["free": .no, "pro": .no, "premium": .count(1, per: .total)]),
            ])

        func memory() -> GuardMemory {
            GuardMemory(
                logger: quiet, clock: { self.instant.withLock { $0 } }, counting: { try self.count($0) },
                load: { _ in AccountEnvironments(production: try self.load()) })
        }
    }

    private func ask(_ api: RunningAPI, _ query: String) async throws -> Answer {
        try await api.get("/v1/guard?\(query)", token: api.signer.token(of: "alice"))
    }

    @Test("refuses what is used up, and nothing else; a counter is read only where there is a limit")
    func answers() async throws {
        let source = Source()
        source.use(3, of: "ai day 2026-01-01")
        source.use(29, of: "voice month 2026-01-01")
        source.use(1000, of: "words total -")
        try await withAPI(endpoints: [Guard(source.memory()).endpoint]) { api in
            for (query, reason, counts) in [
                // Without usage nothing is counted, and no counter is asked for.
                ("feature=ai", nil, 0), ("tier=pro&feature=ai", nil, 0), ("feature=read&usage=required", nil, 0),
                ("feature=words&usage=required", nil, 0), ("feature=video&usage=required", "feature_not_included", 0),
                ("feature=fly&usage=required", "unknown_feature", 0),
                ("tier=premium&feature=ai&usage=required", "tier_required", 0),
                ("usage=required", "invalid_request", 0), ("tier=pro&usage=required", "invalid_request", 0),
                ("feature=ai&usage=perhaps", "invalid_request", 0), ("feature=ai&usage=", "invalid_request", 0),
                ("feature=ai&usage=required", "limit_reached", 1),
                ("tier=pro&feature=ai&usage=required", "limit_reached", 1),
                ("feature=voice&usage=required", nil, 2),
            ] as [(String, String?, Int)] {
                let answer = try await ask(api, query)
                #expect(answer.status == (reason == nil ? 204 : 403), "\(query)")
                #expect(answer.header("X-Storehook-Reason") == reason && answer.body.isEmpty, "\(query)")
                #expect(answer.header("X-Storehook-Stale") == nil, "\(query)")
                #expect(source.counts == counts, "\(query)")
            }
            let passed = try await ask(api, "feature=voice&usage=required")
            #expect(passed.header("X-Storehook-Account") == "alice" && passed.header("X-Storehook-Tier") == "pro")
            #expect(try await api.get("/v1/guard?feature=ai&usage=required").status == 401)
        }
    }

    @Test("asks once a second for a counter, however many requests come, and at once for that of another day or tier")
    func fresh() async throws {
        let source = Source()
        let memory = source.memory()
        let query = "feature=ai&usage=required"
        try await withAPI(endpoints: [Guard(memory).endpoint]) { api in
            source.use(2, of: "ai day 2026-01-01")
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await ask(api, query).status } }
                for try await status in group { #expect(status == 204) }
            }
            #expect(source.counts == 1)
            source.use(3, of: "ai day 2026-01-01")
            source.advance(by: .milliseconds(999))
            #expect(try await ask(api, query).status == 204)
            source.advance(by: .milliseconds(1))
            #expect(try await ask(api, query).status == 403)
            #expect(source.counts == 2)
            // A higher tier gives more, and the counter is known.
            source.state.withLock { $0.tier = "premium" }
            memory.change(Caller(AccountIdentity(named: "alice"), isServer: false).token)
            #expect(try await ask(api, query).status == 204)
            #expect(source.counts == 2)
            source.state.withLock { $0.tier = "pro" }
            memory.change(Caller(AccountIdentity(named: "alice"), isServer: false).token)
            // Half a second before midnight it is used up, and half a second later it is not.
            source.advance(by: .seconds(86_400) - .milliseconds(1500))
            #expect(try await ask(api, query).status == 403)
            source.advance(by: .milliseconds(499))
            #expect(try await ask(api, query).status == 403)
            let counts = source.counts
            source.advance(by: .milliseconds(1))
            #expect(try await ask(api, query).status == 204)
            #expect(source.counts == counts + 1)
        }
    }

    @Test(
        "goes on for a minute with what it knows while the database is away, and says so; then it refuses, or allows where that is set"
    )
    func away() async throws {
        for outage in Guard.Outage.allCases {
            let source = Source()
            try await withAPI(endpoints: [Guard(source.memory(), outage: outage).endpoint]) { api in
                source.use(3, of: "ai day 2026-01-01")
                #expect(try await ask(api, "feature=ai&usage=required").status == 403)
                #expect(try await ask(api, "feature=voice&usage=required").status == 204)
                source.state.withLock { $0.isAway = true }
                source.advance(by: .seconds(30))
                let (used, left) = (
                    try await ask(api, "feature=ai&usage=required"), try await ask(api, "feature=voice&usage=required")
                )
                #expect(used.status == 403 && used.header("X-Storehook-Reason") == "limit_reached")
                #expect(used.header("X-Storehook-Stale") == "30")
                #expect(left.status == 204 && left.header("X-Storehook-Stale") == "30")
                // The guard asks for no counters while the account is not to be had.
                #expect(source.counts == 2)
                source.advance(by: .seconds(31))
                for query in ["feature=ai&usage=required", "feature=voice&usage=required"] {
                    let answer = try await ask(api, query)
                    #expect(answer.status == (outage == .allow ? 204 : 403))
                    #expect(answer.header("X-Storehook-Reason") == (outage == .allow ? nil : "unavailable"))
                    #expect(answer.header("X-Storehook-Stale") == (outage == .allow ? "unknown" : nil))
                }
                source.state.withLock { $0.isAway = false }
                source.advance(by: .seconds(2))
                let back = try await ask(api, "feature=ai&usage=required")
                #expect(back.header("X-Storehook-Reason") == "limit_reached" && back.header("X-Storehook-Stale") == nil)
            }
        }
    }

    @Test("of an account that is known and a counter that is not to be had it knows nothing, and asks once a second")
    func countsAway() async throws {
        for outage in Guard.Outage.allCases {
            let source = Source()
            source.state.withLock { $0.isCountAway = true }
            try await withAPI(endpoints: [Guard(source.memory(), outage: outage).endpoint]) { api in
                for query in ["feature=ai&usage=required", "feature=voice&usage=required"] {
                    let answer = try await ask(api, query)
                    #expect(answer.status == (outage == .allow ? 204 : 403))
                    #expect(answer.header("X-Storehook-Reason") == (outage == .allow ? nil : "unavailable"))
                    #expect(answer.header("X-Storehook-Stale") == (outage == .allow ? "unknown" : nil))
                    #expect(answer.header("X-Storehook-Tier") == (outage == .allow ? "pro" : nil))
                }
                #expect(source.counts == 1)
                // Who does not ask for it is not concerned.
                #expect(try await ask(api, "feature=ai").header("X-Storehook-Stale") == nil)
                source.state.withLock { $0.isCountAway = false }
                source.advance(by: .seconds(1))
                #expect(try await ask(api, "feature=ai&usage=required").status == 204)
                source.state.withLock { $0.isCountAway = true }
                source.advance(by: .seconds(20))
                let stale = try await ask(api, "feature=ai&usage=required")
                #expect(stale.status == 204 && stale.header("X-Storehook-Stale") == "20")
            }
        }
    }

    @Test("counts nothing itself: the count stays exact, and within a second of its end the guard refuses")
    func exact() async throws {
        try await Shop.open { shop in
            #expect(try await shop.verify(shop.buy(lane: 90, for: "alice").transaction, as: "alice").status == 200)
            let path = "/v1/guard?feature=ai&usage=required"
            #expect(try await shop.get("/v1/guard?feature=ai&usage=required", as: "bob").status == 403)
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<24 {
                    group.addTask {
                        number % 2 == 0
                            ? try await shop.get(path, as: "alice").status
                            : try await shop.post("/v1/usage/ai", as: "alice").status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } == 3 && statuses.count { $0 == 429 } == 9, "\(statuses)")
            try await eventually("the guard knows") { try await shop.get(path, as: "alice").status == 403 }
            let refused = try await shop.get(path, as: "alice")
            #expect(refused.header("X-Storehook-Reason") == "limit_reached")
            #expect(try await shop.get("/v1/guard?feature=ai", as: "alice").status == 204)
            let used = try await shop.get("/v1/features/ai", as: "alice")
            #expect(used.object?.integer("used") == 3 && used.object?.integer("remaining") == 0)
        }
    }
}
