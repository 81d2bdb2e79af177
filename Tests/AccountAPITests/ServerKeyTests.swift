import AccountStore
import Accounts
import AppStorePayloads
import Foundation
import Postgres
import Synchronization
import TestSupport
import Testing

@testable import APIKit
@testable import AccountAPI

@Suite("A server key")
struct ServerKeyTests {
    @Test("asks about the account that it names; without one it is told so")
    func asks() async throws {
        try await withAPI { api in
            let key = try await api.serverKey().key.text
            let answer = try await api.get("/v1/account", token: key, [("X-Account-ID", "bob")])
            #expect(answer.status == 200 && answer.object?.string("id") == "bob")
            for headers in [
                [], [("X-Account-ID", "")], [("X-Account-ID", "a b")], [("X-Account-ID", "a"), ("X-Account-ID", "b")],
                [("X-Account-ID", "00000000-0000-0000-0000-000000000000")],
            ] {
                let answer = try await api.get("/v1/account", token: key, headers)
                #expect(answer.status == 400 && answer.code == "account_missing", "\(headers)")
            }
        }
    }

    @Test("is the operator's alone: an app's token with somebody's name beside it is still the app's account")
    func appsCannot() async throws {
        try await withAPI { api in
            let answer = try await api.get(
                "/v1/account", token: api.signer.token(of: "alice"), [("X-Account-ID", "bob")])
            #expect(answer.object?.string("id") == "alice")
            let refused = try await api.send("POST", "/webhooks/apple/test", token: api.signer.token())
            #expect(refused.status == 403 && refused.code == "server_key_required")
        }
    }

    @Test("that is made up, cut or of another letter case is 401")
    func wrong() async throws {
        try await withAPI { api in
            let key = try await api.serverKey().key.text
            for bad in [ServerKey().text, String(key.dropLast()), key + "a", "shk_", key.uppercased(), "shk_" + key] {
                let answer = try await api.get("/v1/account", token: bad, [("X-Account-ID", "bob")])
                #expect(answer.status == 401 && answer.code == "token_invalid", "\(bad)")
            }
        }
    }

    @Test("that is revoked is refused within seconds by what runs already, and stays on record with who did it")
    func revoked() async throws {
        try await withAPI { api in
            let (key, recorded) = try await api.serverKey()
            #expect(try await api.get("/v1/account", token: key.text, [("X-Account-ID", "bob")]).status == 200)
            let keys = ServerKeys(api.observer)
            #expect(try await keys.revoke(recorded.id, by: "carol")?.revokedBy == "carol")
            // Who did it first.
            #expect(try await keys.revoke(recorded.id, by: "dave")?.revokedBy == "carol")
            #expect(try await keys.revoke(recorded.id + 1, by: "dave") == nil)
            try await eventually("it is refused") {
                try await api.get("/v1/account", token: key.text, [("X-Account-ID", "bob")]).status == 401
            }
            #expect(try await keys.list().map(\.id) == [recorded.id])
        }
    }

    @Test("that was made a moment ago counts at once, where it is asked, while others are being guessed")
    func fresh() async throws {
        try await withAPI { api in
            // What is known was read before.
            try await api.serverKeys.read()
            for number in 0..<2 {
                let key = ServerKey()
                try await ServerKeys(api.observer).add(key, name: "new \(number)", by: "test")
                async let guessed = withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<20 {
                        group.addTask {
                            try await api.get("/v1/account", token: ServerKey().text, [("X-Account-ID", "bob")]).status
                        }
                    }
                    return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
                }
                let answer = try await api.get("/v1/account", token: key.text, [("X-Account-ID", "bob")])
                #expect(answer.status == 200, "\(answer.body)")
                #expect(try await guessed == [401])
            }
        }
    }

    @Test("that is made up costs a reading a second at most, however many are tried, and none where it is tried again")
    func bounded() async throws {
        let readings = Mutex(0)
        let table = ServerKeyTable(pause: .milliseconds(300), logger: quiet) {
            readings.withLock { $0 += 1 }
            return []
        }
        try await table.read()
        for number in 1...2 {
            // More than wait for a reading: the others are told at once to come again.
            let found = await withTaskGroup(of: ServerKeyTable.Finding.self) { group in
                for _ in 0..<150 { group.addTask { await table.finding(of: ServerKey().digest) } }
                return await group.reduce(into: Set<ServerKeyTable.Finding>()) { $0.insert($1) }
            }
            #expect(found == [.unknown, .unavailable])
            // Those that came while a reading was under way wait for the next one: few, also where this machine has much to do.
            #expect((1 + number...1 + 8 * number).contains(readings.withLock(\.self)))
        }
        let (key, before) = (ServerKey(), readings.withLock(\.self))
        for _ in 0..<3 { #expect(await table.finding(of: key.digest) == .unknown) }
        #expect(readings.withLock(\.self) == before + 1)
    }

    @Test(
        "that is not known while the database is away is neither good nor refused, and waits for no longer than seconds"
    )
    func away() async throws {
        struct Away: Error {}
        let isAway = Mutex(false)
        let table = ServerKeyTable(pause: .milliseconds(100), logger: quiet) {
            if isAway.withLock(\.self) { throw Away() }
            return []
        }
        try await table.read()
        isAway.withLock { $0 = true }
        let key = ServerKey()
        let began = ContinuousClock.now
        #expect(await table.finding(of: key.digest) == .unavailable)
        #expect(ContinuousClock.now - began < .seconds(30))
        isAway.withLock { $0 = false }
        #expect(await table.finding(of: key.digest) == .unknown)
    }

    @Test("is stored as a digest, and its use is noted to the hour")
    func stored() async throws {
        try await withAPI { api in
            let (key, recorded) = try await api.serverKey()
            #expect(recorded.digest == key.digest && recorded.lastUsedAt == nil)
            let row: String = try await api.observer.query("select k::text from storehook.server_keys k").one().decode(
                0)
            #expect(!row.contains(key.text) && !row.contains(key.text.dropFirst(4)))
            #expect("\(key)" == "shk_…")
            _ = try await api.get("/v1/account", token: key.text, [("X-Account-ID", "bob")])
            try await api.serverKeys.read()
            let first = try #require(try await ServerKeys(api.observer).list().first?.lastUsedAt)
            _ = try await api.get("/v1/account", token: key.text, [("X-Account-ID", "bob")])
            try await api.serverKeys.read()
            #expect(try await ServerKeys(api.observer).list().first?.lastUsedAt == first)
        }
    }

    @Test("is 503 where nobody has known for a minute which are good, and not 401")
    func stale() async throws {
        try await withAPI { api in
            let key = try await api.serverKey().key
            let instant = Mutex(ContinuousClock.now)
            let table = ServerKeyTable(ServerKeys(api.observer), logger: quiet, clock: { instant.withLock { $0 } })
            let tokens = TokenCheck(
                TokenKeys(.file("/nothing"), logger: quiet), RunningAPI.rules, AccountIDTable(.auto, logger: quiet),
                now: wallClock)
            let check = CallerCheck(tokens, table, AccountIDTable(.auto, logger: quiet), CallerMetrics())
            let problem = await #expect(throws: APIProblem.self) { try await check.number(of: key) }
            #expect(problem?.code == .unavailable)
            try await table.read()
            #expect(try await check.number(of: key) != nil)
            instant.withLock { $0 += .seconds(61) }
            await #expect(throws: APIProblem.self) { try await check.number(of: key) }
        }
    }
}
