import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("A demonstration")
struct DemoTests {
    private func with(_ site: Site, _ body: (_ arguments: [String]) async throws -> Void) async throws {
        let pki = FileManager.default.temporaryDirectory.appending(path: "storehook-pki-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: pki) }
        try site.authority.save(to: pki.path)
        try await site.with(["receive", "--port", "0"]) { receiver in
            let url = "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple"
            try await body(["demo", "--to", url, "--pki", pki.path, "--notifications", "200"])
        }
    }

    /// Leaves the database as after a worker has asked Apple for all of the history so far: in Sandbox, whose limit is low, that takes half a
    /// minute.
    private func proveHistory(_ site: Site) async throws {
        try await site.pool.query(
            "select storehook.plan_history(\([Site.app.bundleId]), \(["Sandbox"]), interval '0', false)")
        try await site.pool.query(
            """
            update storehook.history_windows
               set askings = 1, first_asked_at = now(), asked_at = now(), proven_at = now()
            """)
        try await site.pool.query("delete from storehook.history_queue")
    }

    @Test("posts, waits for the workers, and accounts for every notification; the second one as well")
    func whole() async throws {
        try await withSite { site in
            try await with(site) { arguments in
                try await site.with(["work"]) { _ in
                    for _ in 0..<2 {
                        let demo = try site.start(arguments)
                        #expect(await demo.end() == .exited(0), "\(demo.output) \(demo.errors)")
                        for said in [
                            "accepted 200", "received 200 = applied ", " + duplicate 40 + parked ", " + dead 0",
                            "pending 0, missing 0, doubled 0", "subscriptions, by view",
                            "every notification is accounted for",
                        ] {
                            #expect(demo.output.contains(said), "\(said): \(demo.output)")
                        }
                        await demo.discard()
                    }
                }
            }
        }
    }

    @Test("of a shop shows a purchase, a renewal, a refund and a lost post that was recovered, and names what to type")
    func shop() async throws {
        try await withSite { site in
            let keys = FileManager.default.temporaryDirectory.appending(path: "storehook-keys-\(UUID().uuidString)")
                .path
            defer { try? FileManager.default.removeItem(atPath: keys) }
            try site.authority.save(to: keys)
            try await proveHistory(site)
            try await site.with(["receive", "--port", "0"], ["STOREHOOK_ENVIRONMENTS": "Sandbox"]) { receiver in
                let webhook = "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple"
                // A week takes five seconds.
                let store = try await RunningAppStore(
                    site, keys: keys,
                    ["--notify", webhook, "--speed", "120960", "--customers", "5", "--loss", "10", "--refunds", "20"])
                let settings = [
                    "STOREHOOK_ENVIRONMENTS": "Sandbox", "STOREHOOK_APPLE_URL": store.url,
                    "STOREHOOK_APPLE_KEYS": keys + "/keys.yaml",
                ]
                try await site.with(["work"], settings) { _ in
                    let demo = try site.start(
                        [
                            "demo", "--to", webhook, "--pki", keys, "--notifications", "50", "--shop", store.url,
                            "--hints",
                        ],
                        settings)
                    #expect(await demo.end() == .exited(0), "\(demo.output) \(demo.errors)")
                    #expect(demo.output.contains("every notification is accounted for"), "\(demo.output)")
                    #expect(demo.output.contains("accepted 50"), "\(demo.output)")
                    // The commands as they are printed.
                    let commands = demo.output.split(separator: "\n").filter {
                        $0.hasPrefix("      ") && $0.contains(" ")
                    }
                    .map { $0.split(separator: " ").dropFirst().map(String.init) }
                    .filter { ["queue", "subscription", "reconcile"].contains($0.first) }
                    try #require(commands.count == 3, "\(demo.output)")
                    await demo.discard()
                    func run(_ arguments: [String]) async throws -> String {
                        let program = try site.start(arguments + ["--format", "table"], settings)
                        await program.end()
                        let output = program.output
                        await program.discard()
                        return output
                    }
                    #expect(try await run(commands[0]).contains("applied"))
                    let story = try await run(commands[1])
                    for told in ["bought", "renewed", "refund (other reason) of", "from Apple's history"] {
                        #expect(story.contains(told), "\(told): \(story)")
                    }
                    let check = try await run(commands[2])
                    let row = try #require(check.split(separator: "\n").dropFirst().first, "\(check)")
                    #expect(try #require(Int(row.split(separator: " ")[4])) >= 1, "\(check)")
                    #expect(
                        try await site.value(
                            "select count(*) > 0 from storehook.notifications where source = 'history'"))
                    // Who answers 200 and stores nothing is found out, however much the shop posts meanwhile.
                    let deceived = try site.start(
                        [
                            "demo", "--to", store.url + "/healthz", "--pki", keys, "--notifications", "10", "--shop",
                            store.url,
                        ], settings)
                    #expect(await deceived.end() == .exited(1), "\(deceived.output) \(deceived.errors)")
                    #expect(
                        deceived.output.contains("8 of those that were posted are in no place"), "\(deceived.output)")
                    await deceived.discard()
                }
                await store.discard()
            }
        }
    }

    @Test("without a worker says that nothing was done, and leaves with 1")
    func unfinished() async throws {
        try await withSite { site in
            try await with(site) { arguments in
                let demo = try site.start(arguments + ["--patience", "0.3"])
                #expect(await demo.end() == .exited(1), "\(demo.errors)")
                #expect(demo.output.contains("200 are not done"), "\(demo.output)")
                #expect(demo.output.contains("not every notification is accounted for"))
                await demo.discard()
            }
        }
    }
}
