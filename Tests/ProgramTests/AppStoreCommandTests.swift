import Foundation
import Glibc
import TestSupport
import Testing

@Suite("storehook app-store")
struct AppStoreCommandTests {
    /// Which notification a post brought: one that is posted again is signed again.
    private func uuid(_ request: ScriptedServer.Request) throws -> String {
        let payload = try #require(request.text.split(separator: ".").dropFirst().dropLast().last, "\(request.text)")
        let text = payload.replacing("-", with: "+").replacing("_", with: "/")
        let padded = String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
        let members = try JSONSerialization.jsonObject(with: try #require(Data(base64Encoded: padded)))
        return try #require((members as? [String: Any])?["notificationUUID"] as? String)
    }

    @Test("is the same shop after it was killed: purchases, what was posted, keys, and what is still to be posted")
    func killed() async throws {
        let receiver = try ScriptedServer { _ in .json(200, "") }
        defer { receiver.stop() }
        try await withTemporaryDirectory { directory in
            try await withSite { site in
                let arguments = [
                    "--notify", "http://127.0.0.1:\(receiver.port)/", "--state", directory + "/state", "--seed", "7",
                ]
                let keys = directory + "/keys"
                let store = try await RunningAppStore(site, keys: keys, arguments)
                let first = try await store.shop("purchases", #"{"productId":"com.example.storehook.coins.100"}"#)
                #expect(first.contains("customer-1"))
                try await eventually("it is posted") { receiver.requests.count == 1 }
                try await store.shop("purchases", #"{"productId":"com.example.storehook.premium.monthly"}"#)
                let truth = try await store.shop("truth")
                store.program.signal(SIGKILL)
                await store.program.end()
                await store.discard()

                let again = try await RunningAppStore(site, keys: keys, arguments)
                #expect(try await again.shop("truth") == truth)
                #expect(
                    again.announcement.filter { !$0.value.hasPrefix("http") }
                        == store.announcement.filter { !$0.value.hasPrefix("http") })
                #expect(
                    try await again.shop("purchases", #"{"productId":"com.example.storehook.coins.100"}"#).contains(
                        "customer-3"))
                // The second purchase's, which no receiver had got, and the third's; the first's perhaps once more.
                try await eventually("the rest is posted") { try Set(receiver.requests.map(uuid)).count == 3 }
                again.program.signal(SIGTERM)
                #expect(await again.program.end() == .exited(0), "\(again.program.errors)")
                await again.discard()
                for name in ["state", "keys/keys.yaml", "keys/shared-secret", "keys/AuthKey_STANDIN001.p8"] {
                    let mode = try FileManager.default.attributesOfItem(atPath: directory + "/" + name)[
                        .posixPermissions]
                    #expect(mode as? Int == 0o600, "\(name)")
                }
            }
        }
    }

    @Test(
        "is another shop at each start, with identifiers of its own, unless it is given a seed or what it was kept in")
    func identifiers() async throws {
        try await withTemporaryDirectory { directory in
            try await withSite { site in
                func start(_ arguments: [String]) async throws -> (bought: [String], seed: String?) {
                    let store = try await RunningAppStore(site, keys: directory + "/keys", arguments)
                    var bought: [String] = []
                    for environment in ["Sandbox", "Production"] {
                        let answer = try await store.shop(
                            "purchases",
                            #"{"productId":"com.example.storehook.premium.monthly","environment":"\#(environment)"}"#)
                        let members = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
                        bought.append(try #require(members?["originalTransactionId"] as? String))
                    }
                    let seed = store.announcement["seed"]
                    store.program.signal(SIGTERM)
                    await store.program.end()
                    await store.discard()
                    return (bought, seed)
                }
                let (one, other) = (try await start([]), try await start([]))
                #expect(Set(one.bought + other.bought).count == 4 && one.seed != other.seed)
                // As it says itself, and as a person would choose one.
                for seed in [try #require(one.seed), "7"] {
                    let again = (try await start(["--seed", seed]).bought, try await start(["--seed", seed]).bought)
                    #expect(again.0 == again.1 && (seed == "7" || again.0 == one.bought), "\(seed)")
                }
                let kept = (
                    try await start(["--state", directory + "/a"]), try await start(["--state", directory + "/a"]),
                    try await start(["--state", directory + "/b"])
                )
                #expect(Set(kept.0.bought + kept.1.bought + kept.2.bought).count == 6 && kept.0.seed == nil)
                // In its own stretch still: what is sold next, and not what another shop sells.
                let first = try #require(Int(kept.0.bought[0]))
                let next = try #require(Int(kept.1.bought[0]))
                #expect((10_000_000...30_000_000).contains(next - first), "\(first) \(next)")
            }
        }
    }

    @Test("says in its help what it sells, and where each environment is")
    func help() async throws {
        try await withSite { site in
            let help = try await site.run("app-store", "--help").output
            for word in [
                "premium.monthly", "season.pass", "come_back", "GET /stand-in/products",
                "GET /stand-in/customers/CUSTOMER",
                "POST /stand-in/finish", "root.cer", "/production", "appAccountToken?", "GET /stand-in lists",
            ] {
                #expect(help.contains(word), "\(word)")
            }
        }
    }

    @Test("says in one line why it does not take a file")
    func refused() async throws {
        try await withTemporaryDirectory { directory in
            try await withSite { site in
                try Data("anything".utf8).write(to: URL(fileURLWithPath: directory + "/state"))
                let run = try await site.run(
                    "app-store", "--port", "0", "--pki", directory + "/keys", "--state", directory + "/state")
                #expect(run.ending == .exited(1) && run.errorLines == 1, "\(run.errors)")
                #expect(run.errors.contains("is no state of storehook app-store"), "\(run.errors)")
                for url in ["nothost", "127.0.0.1:8080/webhooks/apple", "ftp://127.0.0.1/", ""] {
                    let nowhere = try await site.run("app-store", "--notify", url)
                    #expect(nowhere.ending == .exited(2) && nowhere.errorLines == 1, "\(nowhere.errors)")
                    #expect(
                        nowhere.errors.contains("such as http://127.0.0.1:8080/webhooks/apple"), "\(nowhere.errors)")
                }
                let wrong = try await site.run("app-store", "--speed", "0")
                #expect(wrong.ending == .exited(2) && wrong.errors.contains("--speed"), "\(wrong.errors)")
            }
        }
    }
}
