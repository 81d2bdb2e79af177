import AccountAPI
import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import APIKit

@Suite("The guard")
struct GuardTests {
    private struct Away: Error {}

    /// A database of one kind of account, which can be away.
    private final class Source: Sendable {
        struct State {
            var reads = 0
            var isAway = false
            var tier = "pro"
            var expiresAt = Timestamp(millisecondsSince1970: 1_000_000)
        }
        let state = Mutex(State())
        let instant = Mutex(ContinuousClock.now)

        func advance(by duration: Duration) { instant.withLock { $0 += duration } }
        var reads: Int { state.withLock(\.reads) }

        /// The database's clock stands at 0 with each reading.
        func load() throws -> AccountView {
            try state.withLock { state in
                state.reads += 1
                guard !state.isAway else { throw Away() }
                let end = state.expiresAt
                let phases = [
                    AccountPhase(
                        startsAt: .distantPast, status: .active, tier: state.tier, source: .apple, expiresAt: end),
                    AccountPhase(startsAt: end, status: .expired, tier: "free", source: .apple, expiresAt: end),
                ]
                guard let known = AccountState(phases) else { throw Away() }
                return AccountView(
                    token: UniqueIdentifier(high: 0, low: 1), environment: "Production",
                    instant: Timestamp(millisecondsSince1970: 0), catalog: Self.catalog, state: known)
            }
        }

        private static let catalog = Catalog(
            tiers: [.init(id: "free"), .init(id: "pro"), .init(id: "premium")],
            features: [
                .init(id: "explain", limits: ["free": .no, "pro": .yes, "premium": .yes]),
                .init(id: "voice", limits: ["free": .no, "pro": .no, "premium": .yes]),
                .init(id: "read", limits: ["free": .yes, "pro": .yes, "premium": .yes]),
            ])

        func memory(_ logger: Logger = quiet) -> GuardMemory {
            GuardMemory(
                logger: logger, clock: { self.instant.withLock { $0 } }, counting: { _ in throw Away() },
                load: { _ in AccountEnvironments(production: try self.load()) })
        }
    }

    private func ask(_ api: RunningAPI, _ query: String = "", of account: String = "alice") async throws -> Answer {
        try await api.get("/v1/guard\(query)", token: api.signer.token(of: account))
    }

    @Test("answers 204, 401 and 403, nothing else, and says who it is or why not")
    func answers() async throws {
        let source = Source()
        try await withAPI(endpoints: [Guard(source.memory()).endpoint]) { api in
            let passed = try await ask(api, "?tier=pro&feature=explain")
            #expect(passed.status == 204 && passed.body.isEmpty)
            #expect(passed.header("X-Storehook-Account") == "alice" && passed.header("X-Storehook-Tier") == "pro")
            #expect(passed.header("X-Storehook-Status") == "active")
            #expect(passed.header("X-Storehook-Expires") == "1970-01-01T00:16:40Z")
            #expect(passed.header("X-Storehook-Stale") == nil)
            for (query, reason) in [
                ("", nil), ("?tier=free", nil), ("?feature=read", nil), ("?tier=premium", "tier_required"),
                ("?feature=voice", "feature_not_included"), ("?tier=gold", "unknown_tier"),
                ("?feature=fly", "unknown_feature"),
                ("?tier=pro&feature=voice", "feature_not_included"), ("?tier=", "invalid_request"),
            ] as [(String, String?)] {
                let answer = try await ask(api, query)
                #expect(answer.status == (reason == nil ? 204 : 403), "\(query)")
                #expect(answer.header("X-Storehook-Reason") == reason && answer.body.isEmpty, "\(query)")
            }
            let bare = try await api.get("/v1/guard")
            #expect(bare.status == 401 && bare.header("WWW-Authenticate") != nil && bare.body.isEmpty)
            #expect(try await api.get("/v1/guard", token: "a.b.c").status == 401)
            let key = try await api.serverKey().key.text
            #expect(
                try await api.get("/v1/guard", token: key, [("X-Account-ID", "bob")]).header("X-Storehook-Account")
                    == "bob")
            #expect(try await api.get("/v1/guard", token: key).status == 403)
            // What a client says of itself counts for nothing.
            let posing = try await api.get(
                "/v1/guard?tier=premium", token: api.signer.token(), [("X-Storehook-Tier", "premium")])
            #expect(posing.status == 403)
        }
    }

    @Test("writes a line for each tier and feature that the catalog lacks, once, and for no more than fifty")
    func strangers() async throws {
        let log = RecordedLog()
        try await withAPI(endpoints: [Guard(Source().memory(log.logger)).endpoint]) { api in
            for query in [
                "?tier=gold", "?tier=gold", "?feature=gold", "?tier=premium", "?feature=a%0Ab", "?tier=pro&feature=fly",
            ] {
                #expect(try await ask(api, query).status == 403, "\(query)")
            }
            #expect(
                log.lines.map(\.metadata) == [
                    ["tier": "gold"], ["feature": "gold"], ["feature": "(no id)"], ["feature": "fly"],
                ], "\(log.text)")
            #expect(log.lines.allSatisfy { $0.level == .warning && $0.message.contains("apply a catalog that has it") })
            for number in 0..<60 { _ = try await ask(api, "?tier=t\(number)") }
            #expect(log.lines.count == 50)
        }
    }

    @Test("asks once a second for an account, however many requests come, and heeds an end at its instant all the same")
    func fresh() async throws {
        let source = Source()
        try await withAPI(endpoints: [Guard(source.memory()).endpoint]) { api in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<50 { group.addTask { try await ask(api).status } }
                for try await status in group { #expect(status == 204) }
            }
            #expect(source.reads == 1)
            source.advance(by: .milliseconds(1001))
            #expect(try await ask(api).status == 204)
            #expect(source.reads == 2)
            // It ends half a second after it was read.
            source.state.withLock { $0.expiresAt = Timestamp(millisecondsSince1970: 500) }
            source.advance(by: .milliseconds(1001))
            #expect(try await ask(api).status == 204)
            source.advance(by: .milliseconds(501))
            let ended = try await ask(api)
            #expect(ended.status == 403 && ended.header("X-Storehook-Reason") == "no_access")
            #expect(source.reads == 3)
        }
    }

    @Test("asks anew as soon as it is told that an account has changed, or that any may have")
    func changed() async throws {
        let source = Source()
        let memory = source.memory()
        try await withAPI(endpoints: [Guard(memory).endpoint]) { api in
            let first = try await ask(api, "?tier=pro")
            #expect(first.status == 204)
            source.state.withLock { $0.tier = "free" }
            #expect(try await ask(api, "?tier=pro").status == 204)
            memory.change(AccountToken.of("bob").description)
            #expect(try await ask(api, "?tier=pro").status == 204)
            memory.change(AccountToken.of("alice").description)
            #expect(try await ask(api, "?tier=pro").status == 403)
            source.state.withLock { $0.tier = "pro" }
            memory.change("")
            #expect(try await ask(api, "?tier=pro").status == 204)
            #expect(source.reads == 3)
        }
    }

    @Test("answers what this process has changed, however slow the database is, and not what was being read before")
    func made() async throws {
        let source = Source()
        let isSlow = Atomic(false)
        let memory = GuardMemory(
            logger: quiet, clock: { source.instant.withLock { $0 } }, counting: { _ in throw Away() }
        ) { _ in
            let view = try source.load()
            // Longer than a guard waits that has something to go by.
            if isSlow.load(ordering: .relaxed) { try await Task.sleep(for: .milliseconds(600)) }
            return AccountEnvironments(production: view)
        }
        try await withAPI(endpoints: [Guard(memory).endpoint]) { api in
            #expect(try await ask(api, "?tier=pro").status == 204)
            isSlow.store(true, ordering: .relaxed)
            source.advance(by: .milliseconds(1001))
            let early = Task { try await ask(api, "?tier=pro").status }
            try await eventually("it is read") { source.reads == 2 }
            source.state.withLock { $0.tier = "free" }
            memory.change(Caller(AccountIdentity(named: "alice"), isServer: false).token)
            #expect(try await ask(api, "?tier=pro").status == 403)
            _ = try await early.value
        }
    }

    @Test(
        "goes on for a minute with what it knows while the database is away, and says so; then it refuses, or allows where that is set"
    )
    func away() async throws {
        for outage in Guard.Outage.allCases {
            let source = Source()
            try await withAPI(endpoints: [Guard(source.memory(), outage: outage).endpoint]) { api in
                #expect(try await ask(api).status == 204)
                source.state.withLock { $0.isAway = true }
                source.advance(by: .seconds(30))
                let stale = try await ask(api)
                #expect(stale.status == 204 && stale.header("X-Storehook-Stale") == "30")
                #expect(try await ask(api, "?tier=premium").header("X-Storehook-Stale") == "30")
                // The guard does not ask a database again that has just not answered.
                #expect(source.reads == 2)
                source.advance(by: .seconds(31))
                for account in ["alice", "stranger"] {
                    let answer = try await ask(api, of: account)
                    #expect(answer.status == (outage == .allow ? 204 : 403))
                    #expect(answer.header("X-Storehook-Reason") == (outage == .allow ? nil : "unavailable"))
                    #expect(answer.header("X-Storehook-Stale") == (outage == .allow ? "unknown" : nil))
                }
                // A token is looked at, whatever else is away.
                #expect(try await api.get("/v1/guard", token: "a.b.c").status == 401)
                source.state.withLock { $0.isAway = false }
                source.advance(by: .seconds(2))
                let back = try await ask(api)
                #expect(back.status == 204 && back.header("X-Storehook-Stale") == nil)
            }
        }
    }
}
