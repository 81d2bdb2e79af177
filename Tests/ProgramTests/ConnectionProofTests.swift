import Crypto
import Foundation
import Simulation
import TestSupport
import Testing

/// Each link between Apple and what is applied here, broken on purpose: the doctor's sentence names it.
@Suite("storehook doctor --apple")
struct ConnectionProofTests {
    private struct Line: Decodable {
        var check: String
        var status: String
        var message: String
    }

    /// A system whose parts can be left out or broken.
    private struct System {
        /// Where the stand-in posts, by the receiver's port; nil where App Store Connect has no URL.
        var notify: @Sendable (Int) -> String? = { "http://127.0.0.1:\($0)/webhooks/apple" }
        /// What the receiver has beside the rest.
        var receiver: [String] = []
        /// What the worker is set to; nil where there is none.
        var worker: [String: String]? = [:]
        /// What the doctor is set to.
        var doctor: [String: String] = [:]
        var arguments: [String] = []
        /// See `POST /stand-in/faults`.
        var faults = "{}"
        /// Whether the doctor has a key that Apple never gave out.
        var hasForeignKey = false
    }

    /// What the doctor says of the app, by environment.
    private func verdicts(_ site: Site, _ system: System) async throws -> [String: Line] {
        try await withTemporaryDirectory { directory in
            try await site.with(["receive", "--port", "0"] + system.receiver) { receiver in
                let port = try #require(receiver.port)
                let notify = system.notify(port)
                let shop = try await RunningAppStore(
                    site, keys: directory + "/pki", notify.map { ["--notify", $0] } ?? [])
                do {
                    try await shop.shop("faults", system.faults)
                    let found = try await examine(site, system, shop, directory)
                    await shop.discard()
                    return found
                } catch {
                    await shop.discard()
                    throw error
                }
            }
        }
    }

    private func examine(
        _ site: Site, _ system: System, _ shop: RunningAppStore, _ directory: String
    ) async throws -> [String: Line] {
        var settings = [
            "STOREHOOK_TRUSTED_ROOTS": shop.announcement["rootFingerprint"] ?? "", "STOREHOOK_APPLE_URL": shop.url,
            "STOREHOOK_APPLE_KEYS": shop.announcement["keysFile"] ?? "",
        ]
        guard let own = system.worker else { return try await examine(site, system, settings, directory) }
        return try await site.with(["work"], settings.merging(["STOREHOOK_APPLE_KEYS": ""]) { $1 }.merging(own) { $1 })
        {
            _ in
            settings["STOREHOOK_LOG_LEVEL"] = "error"
            return try await examine(site, system, settings, directory)
        }
    }

    private func examine(
        _ site: Site, _ system: System, _ settings: [String: String], _ directory: String
    ) async throws -> [String: Line] {
        var settings = settings.merging(system.doctor) { $1 }
        if system.hasForeignKey {
            try P256.Signing.PrivateKey().pemRepresentation.write(
                toFile: directory + "/other.p8", atomically: true, encoding: .utf8)
            try """
            \(Site.app.bundleId):
              issuer_id: 5f6f2d3a-8b1e-4c47-9a50-57a4d1000001
              key_id: STANDIN001
              private_key_file: other.p8
            """.write(toFile: directory + "/other.yaml", atomically: true, encoding: .utf8)
            for file in ["/other.p8", "/other.yaml"] {
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: directory + file)
            }
            settings["STOREHOOK_APPLE_KEYS"] = directory + "/other.yaml"
        }
        let before = ContinuousClock.now
        let program = try site.start(
            ["doctor", "--apple", "--wait", "14", "--format", "json", "--port", "1"] + system.arguments, settings)
        _ = await program.end()
        let (output, errors) = (program.output, program.errors)
        await program.discard()
        #expect(ContinuousClock.now - before < .seconds(50), "it takes a bounded time")
        #expect(errors.isEmpty, "\(errors)")
        let lines = try JSONDecoder().decode([Line].self, from: Data(output.utf8))
        return Dictionary(
            lines.filter { $0.check.hasPrefix("apple") }.map {
                ($0.check.split(separator: " ").last.map(String.init) ?? "", $0)
            }
        ) { first, _ in first }
    }

    /// Both environments name one link, in one sentence with these words.
    private func expect(_ system: System, names link: String, saying words: String...) async throws {
        try await withSite { site in
            let lines = try await verdicts(site, system)
            #expect(lines.count == 2)
            for line in lines.values {
                #expect(line.status == "failed" && line.message.hasPrefix("\(link): "), "\(line)")
                #expect(line.message.contains("heard from Apple"), "\(line)")
                for word in words { #expect(line.message.contains(word), "\(line)") }
            }
        }
    }

    @Test("finds a whole way whole, and says how long each part of it took")
    func whole() async throws {
        try await withSite { site in
            let lines = try await verdicts(site, System())
            #expect(lines.count == 2)
            for line in lines.values {
                #expect(line.status == "ok" && line.message.contains("came through: posted after"), "\(line)")
                #expect(line.message.contains("applied after") && line.message.contains("last heard from Apple at"))
            }
        }
    }

    @Test("names a URL that is not the receiver's path")
    func wrongPath() async throws {
        let elsewhere = System(notify: { "http://127.0.0.1:\($0)/elsewhere" })
        try await expect(
            elsewhere, names: "url", saying: "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "the path is wrong", "--url")
    }

    @Test("names a URL at which something else answers Apple with success")
    func wrongHost() async throws {
        let other = try ScriptedServer { _ in .json(200, "") }
        defer { other.stop() }
        let port = other.port
        try await expect(
            System(notify: { _ in "http://127.0.0.1:\(port)/webhooks/apple" }), names: "url",
            saying: "nothing was stored here", "another database than DATABASE_URL")
    }

    @Test("names a URL that App Store Connect lacks")
    func noURL() async throws {
        try await expect(System(notify: { _ in nil }), names: "url", saying: "App Store Connect has none for ")
    }

    @Test("names TLS that Apple does not accept")
    func tls() async throws {
        // Apple speaks TLS, and what answers does not.
        try await expect(
            System(notify: { "https://127.0.0.1:\($0)/webhooks/apple" }), names: "tls", saying: "TLS_ISSUE",
            "whole chain")
    }

    @Test("names a proxy that answers 404 in the receiver's place, where the URL is said")
    func proxy() async throws {
        let proxy = try ScriptedServer { _ in .json(404, "no such page") }
        defer { proxy.stop() }
        let url = "http://127.0.0.1:\(proxy.port)/webhooks/apple"
        try await expect(
            System(notify: { _ in url }, arguments: ["--url", url]), names: "proxy", saying: "\(url) answers 404")
    }

    @Test("names a key that Apple does not know")
    func key() async throws {
        try await expect(System(hasForeignKey: true), names: "key", saying: "401 from ", "agrees with Apple's")
    }

    @Test("names this machine's clock, where Apple's tells another time", arguments: [-600, 600])
    func clock(ahead: Int) async throws {
        try await expect(
            System(faults: #"{"clockAheadSeconds": \#(ahead)}"#), names: "clock",
            saying: ahead > 0 ? " s behind Apple's" : " s ahead of Apple's", "NTP")
    }

    @Test("names Production where Sandbox alone takes the key, and has nothing to do there")
    func unreleased() async throws {
        try await withSite { site in
            let lines = try await verdicts(site, System(faults: #"{"keyRefusedIn": "Production"}"#))
            let production = try #require(lines["Production"])
            #expect(production.status == "skipped", "\(production)")
            #expect(
                production.message.hasPrefix(
                    "environment: 401 from Production while Sandbox takes this key: the app has no release yet, or "))
            #expect(lines["Sandbox"]?.status == "ok")
        }
    }

    @Test("names an environment that the workers do not serve")
    func environment() async throws {
        try await withSite { site in
            let lines = try await verdicts(site, System(worker: ["STOREHOOK_ENVIRONMENTS": "Production"]))
            let sandbox = try #require(lines["Sandbox"])
            #expect(sandbox.status == "failed" && sandbox.message.hasPrefix("environment: "), "\(sandbox)")
            #expect(sandbox.message.contains("wrong_environment") && sandbox.message.contains("STOREHOOK_ENVIRONMENTS"))
            #expect(lines["Production"]?.status == "ok")
        }
    }

    @Test("names a receiver that is down, and one that does not answer Apple in time")
    func receiverDown() async throws {
        let port = try freePort()
        let url = "http://127.0.0.1:\(port)/webhooks/apple"
        try await expect(System(notify: { _ in url }), names: "receiver", saying: "SOCKET_ISSUE", "storehook receive")
        try await expect(
            System(notify: { _ in url }, arguments: ["--url", url]), names: "receiver",
            saying: "nothing answers at \(url)")
    }

    @Test("names workers where none runs")
    func noWorker() async throws {
        try await expect(
            System(worker: nil), names: "worker", saying: "was stored at 20", "no worker takes it: start storehook work"
        )
    }

    @Test("names an app that the workers do not serve, and one that the doctor's own settings leave out")
    func app() async throws {
        try await expect(
            System(worker: ["STOREHOOK_APPS": "com.example.other=1"]), names: "app", saying: "wrong_bundle",
            "STOREHOOK_APPS")
        try await withSite { site in
            let own = try await verdicts(
                site, System(doctor: ["STOREHOOK_APPS": "com.example.other=1"]))
            #expect(own["apple"]?.status == "failed", "\(own)")
            #expect(own["apple"]?.message.contains("is not served; add it to STOREHOOK_APPS") == true, "\(own)")
        }
    }

    @Test("names roots that do not vouch for who signed it")
    func roots() async throws {
        try await withSite { site in
            let other = ["STOREHOOK_TRUSTED_ROOTS": site.authority.rootFingerprint]
            for system in [System(worker: other), System(doctor: other)] {
                let line = try #require(try await verdicts(site, system)["Sandbox"])
                #expect(line.status == "failed" && line.message.hasPrefix("roots: "), "\(line)")
                #expect(line.message.contains("STOREHOOK_TRUSTED_ROOTS"), "\(line)")
            }
        }
    }

    @Test("names what a dead letter's reason says with a worker's rights, too")
    func workersRights() async throws {
        try await withRoles { site in
            try await withUser(in: "storehook_worker", site) { user in
                for (link, own) in [
                    ("environment", ["STOREHOOK_ENVIRONMENTS": "Production"]),
                    ("app", ["STOREHOOK_APPS": "com.example.other=1"]),
                    ("roots", ["STOREHOOK_TRUSTED_ROOTS": site.authority.rootFingerprint]),
                ] {
                    let lines = try await verdicts(site, System(worker: own.merging(user) { $1 }, doctor: user))
                    let line = try #require(lines["Sandbox"])
                    #expect(line.status == "failed" && line.message.hasPrefix("\(link): "), "\(line)")
                }
            }
        }
    }

    @Test("says that a right is missing, and not that nothing is there, where its user may not look")
    func noRights() async throws {
        try await withRoles { site in
            try await withUser(in: "storehook_receiver", site) { user in
                for line in try await verdicts(site, System(doctor: user)).values {
                    #expect(line.status == "failed" && line.message.hasPrefix("database: this user may not"), "\(line)")
                    #expect(line.message.contains("storehook doctor --role"), "\(line)")
                    #expect(line.message.contains("last heard is not known: this user may not see it"), "\(line)")
                    for wrong in ["cannot be asked", "not heard from Apple", "nothing proven"] {
                        #expect(!line.message.contains(wrong), "\(line)")
                    }
                }
            }
        }
    }

    @Test("is followed with a key alone, within a time that is bounded, to a URL that begins as one does")
    func usage() async throws {
        try await withSite { site in
            let noKey = try await site.run("doctor", "--apple", "--port", "1")
            #expect(noKey.output.contains("key: no key is set"), "\(noKey.output)")
            for wrong in [
                ["--apple", "--wait", "1"], ["--apple", "--url", "example.com"], ["--url", "https://example.com"],
            ] {
                let program = try site.start(["doctor"] + wrong)
                #expect(await program.end() == .exited(2))
                await program.discard()
            }
        }
    }
}
