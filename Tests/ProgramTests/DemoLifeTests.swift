import Foundation
import Simulation
import TestSupport
import Testing

@Suite("A customer's life in a demonstration")
struct DemoLifeTests {
    private struct Running {
        let site: Site
        let store: RunningAppStore
        let settings: [String: String]
        let api: String

        func life(_ more: String...) -> [String] { ["demo", "life", "--api", api] + more }

        /// Whether a customer's months take as long as the shop's.
        func lives(_ name: String, _ environments: String) async throws -> Bool {
            let place = environments.contains("Production") ? "Production" : "Sandbox"
            try await store.shop(
                "purchases",
                #"{"productId":"com.example.storehook.news.monthly","customer":"\#(name)","environment":"\#(place)"}"#)
            let truth = try JSONSerialization.jsonObject(with: Data(try await store.shop("truth").utf8))
            let month = (truth as? [[String: Any]])?.first {
                $0["customer"] as? String == name && "\($0["productId"] ?? "")".hasSuffix("news.monthly")
            }
            let end = try #require(month?["expiresDate"] as? Int)
            return end > Int(Date.now.addingTimeInterval(20 * 86_400).timeIntervalSince1970 * 1000)
        }
    }

    /// All that `deploy/run --demo` starts, on ports and keys of its own; the shop loses a post now and then.
    private static func with(
        environments: String, worker: Bool = true, _ more: [String: String] = [:],
        _ body: @Sendable (Running) async throws -> Void
    ) async throws {
        try await withSite { site in
            try await withTemporaryDirectory { directory in
                try await withTokenKey { keys in
                    try site.authority.save(to: directory + "/pki")
                    var settings = keys.merging(more) { _, new in new }
                    settings["STOREHOOK_ENVIRONMENTS"] = environments
                    try await site.apply(
                        catalog: try String(
                            contentsOf: packageRoot.appending(path: "deploy/catalogs/simulator.yaml"), encoding: .utf8))
                    try await site.with(["receive", "--port", "0"], settings) { receiver in
                        let webhook = "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple"
                        let store = try await RunningAppStore(
                            site, keys: directory + "/pki", ["--notify", webhook, "--customers", "3", "--loss", "60"])
                        settings["STOREHOOK_APPLE_URL"] = store.url
                        let all = settings
                        try await site.with(["serve", "--port", "0"], all) { api in
                            let running = Running(
                                site: site, store: store, settings: all,
                                api: "http://127.0.0.1:\(try #require(api.port))")
                            if worker {
                                try await site.with(["work"], all) { _ in try await body(running) }
                            } else {
                                try await body(running)
                            }
                        }
                        await store.discard()
                    }
                }
            }
        }
    }

    @Test(
        "is shown from a trial to a refund: what Apple posted, what changed, which event was sent, what the account API answers",
        arguments: sampled(["Production,Sandbox", "Sandbox"]))
    func whole(environments: String) async throws {
        try await Self.with(environments: environments, ["STOREHOOK_SANDBOX_ACCESS": "all"]) { running in
            let others = try await running.store.shop("clock", "{}")
            try await running.store.shop(
                "purchases", #"{"productId":"com.example.storehook.premium.yearly","customer":"otto"}"#)
            let truth = try await running.store.shop("truth")
            #expect(truth.contains("otto") && !others.isEmpty)
            let demo = try running.site.start(
                running.life("--week", "4", "--patience", "60", "--account", "maria"), running.settings)
            #expect(await demo.end() == .exited(0), "\(demo.output) \(demo.errors)")
            let steps = try demo.output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            await demo.discard()
            func texts(_ path: (([String: Any]) -> Any?)) -> [String] { steps.map { path($0) as? String ?? "-" } }
            #expect(
                texts { $0["step"] } == ["trial", "conversion", "failed payment", "grace", "recovery", "refund"])
            #expect(
                texts { (($0["posted"] as? [[String: Any]])?.last)?["notificationType"] } == [
                    "SUBSCRIBED", "DID_RENEW", "DID_FAIL_TO_RENEW", "-", "DID_RENEW", "REFUND",
                ])
            let statuses = ["trial", "active", "grace_period", "grace_period", "active", "revoked"]
            #expect(texts { ($0["after"] as? [String: Any])?["status"] } == statuses)
            #expect(texts { ($0["before"] as? [String: Any])?["status"] } == ["-"] + statuses.dropLast())
            // A machine that is busy may see the first two when they are over.
            #expect(
                Array(texts { ($0["account"] as? [String: Any])?["status"] }.dropFirst(2))
                    == Array(statuses.dropFirst(2)))
            for step in steps {
                let events = try #require(step["events"] as? [[String: Any]])
                #expect(events.isEmpty == (step["step"] as? String == "grace"), "\(step)")
                #expect(events.allSatisfy { ($0["type"] as? String)?.contains(".") == true }, "\(events)")
                #expect(step["status"] as? Int == 200)
                let name = try #require(step["step"] as? String)
                guard ["failed payment", "recovery", "refund"].contains(name) else { continue }
                let told = events.compactMap { ($0["data"] as? [String: Any])?["access"] as? [String: Any] }
                #expect(
                    told.last?["status"] as? String == (step["after"] as? [String: Any])?["status"] as? String,
                    "\(step)")
            }
            let kinds = steps.flatMap { $0["events"] as? [[String: Any]] ?? [] }.compactMap { $0["type"] as? String }
            #expect(Set(kinds).isSuperset(of: ["account.access_changed", "subscription.trial_started"]), "\(kinds)")
            // No other customer has noticed.
            #expect(
                try await running.store.shop("loss", #"{"rate":60}"#).contains(#""formerRate":60"#))
            let after = try await running.store.shop("truth")
            let otto = try #require(truth.split(separator: "{").first { $0.contains("otto") })
            #expect(after.contains(otto.prefix { $0 != "}" }))
            #expect(try await running.lives("maria", environments), "she goes on at a speed of her own")
            let again = try running.site.start(running.life("--account", "maria"), running.settings)
            #expect(await again.end() == .exited(2) && again.output.isEmpty)
            #expect(again.errors.contains("has sold something to maria already"), "\(again.errors)")
            await again.discard()
        }
    }

    @Test("is shown in words for people, without colour where that is no terminal, and again with another account")
    func words() async throws {
        try await Self.with(environments: "Production,Sandbox") { running in
            for _ in 0..<2 {
                let demo = try running.site.start(
                    running.life("--week", "3", "--patience", "60", "--format", "table"), running.settings)
                #expect(await demo.end() == .exited(0), "\(demo.output) \(demo.errors)")
                for text in [
                    "Trial  ", "SUBSCRIBED/INITIAL_BUY, signed ", "no purchase → trial until ", "Failed payment",
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", "DID_RENEW/BILLING_RECOVERY", "→ revoked", "GET /v1/account  ",
                    "status grace_period, tier basic, access, until ", "status revoked, tier free, no access",
                    "account.access_changed", "storehook subscription ",
                ] {
                    #expect(demo.output.contains(text), "\(text): \(demo.output)")
                }
                #expect(!demo.output.contains("\u{1B}"))
                await demo.discard()
            }
        }
    }

    @Test("ends with 1 and one line that says what is missing, and leaves no customer behind who goes on renewing")
    func missing() async throws {
        try await Self.with(environments: "Production,Sandbox", worker: false) { running in
            func failure(_ arguments: [String], _ settings: [String: String]) async throws -> (
                ChildProgram.Ending?, String
            ) {
                let demo = try running.site.start(arguments, settings)
                let ending = await demo.end()
                let errors = demo.errors
                await demo.discard()
                #expect(errors.split(separator: "\n").count == 1, "\(errors)")
                return (ending, errors)
            }
            let (ending, errors) = try await failure(
                running.life("--patience", "1.5", "--account", "anna"), running.settings)
            #expect(ending == .exited(1) && errors.contains("trial: the purchase "), "\(errors)")
            #expect(errors.contains("does a worker run?"), "\(errors)")
            let truth = try await running.store.shop("truth")
            let anna = try #require(truth.split(separator: "{").first { $0.contains("anna") })
            #expect(anna.contains(#""autoRenew":false"#), "\(anna)")
            #expect(try await running.lives("anna", "Production"), "she goes on at a speed of her own")

            for (signal, name) in [(SIGINT, "ben"), (SIGTERM, "cleo")] {
                let demo = try running.site.start(
                    running.life("--patience", "60", "--account", name), running.settings)
                try await eventually("\(name) has bought") {
                    if let ending = demo.ending { throw NeverHappened("it runs; instead: \(ending) \(demo.errors)") }
                    return try await running.store.shop("truth").contains(name)
                }
                demo.signal(signal)
                #expect(await demo.end() == .exited(1))
                #expect(demo.errors.contains("stopped by a signal: \(name) renews no more"), "\(demo.errors)")
                await demo.discard()
                let truth = try await running.store.shop("truth")
                let line = try #require(truth.split(separator: "{").first { $0.contains(name) })
                #expect(line.contains(#""autoRenew":false"#), "\(line)")
                #expect(try await running.lives(name, "Production"), "\(name) goes on at a speed of his own")
            }

            let nobody = try await failure(
                ["demo", "life", "--api", "http://127.0.0.1:1"], running.settings)
            #expect(
                nobody.0 == .exited(1) && nobody.1.contains("no account API answers at http://127.0.0.1:1"), "\(nobody)"
            )
            let shopless = try await failure(
                running.life("--shop", "http://127.0.0.1:1"), running.settings)
            #expect(shopless.0 == .exited(1) && shopless.1.contains("the shop at http://127.0.0.1:1 does not answer"))
            var settings = running.settings
            settings["STOREHOOK_APPLE_URL"] = nil
            let unnamed = try await failure(running.life(), settings)
            #expect(unnamed.0 == .exited(2) && unnamed.1.contains("no stand-in is known"), "\(unnamed)")
        }
        try await Self.with(environments: "Sandbox", worker: false) { running in
            let demo = try running.site.start(running.life(), running.settings)
            #expect(await demo.end() == .exited(1))
            #expect(demo.errors.contains("STOREHOOK_SANDBOX_ACCESS=all"), "\(demo.errors)")
            await demo.discard()
        }
    }
}
