import AppStorePayloads
import AppStoreVerification
import AppleRecords
import Base
import EvidenceStore
import Foundation
import HTTPKit
import Simulation
import Subscriptions
import TestSupport
import Testing

@testable import storehook

@Suite("The settings")
struct SettingsTests {
    private func ages(_ value: String, environments: String = "") throws -> [Environment: Duration] {
        try Settings(environment: [
            "STOREHOOK_MAX_PAYLOAD_AGE_DAYS": value, "STOREHOOK_ENVIRONMENTS": environments,
            "STOREHOOK_TRUSTED_ROOTS": environments == "Xcode" ? "Xcode:\(Fingerprint.appleRootG3)" : "",
        ]).verifier().maximumAges
    }

    @Test("say for each environment how often Apple is asked for a test notification; never by default")
    func canary() throws {
        func minutes(_ value: String) throws -> [Environment: Duration] {
            try Settings(environment: ["STOREHOOK_CANARY_MINUTES": value]).canaryIntervals()
        }
        #expect(try minutes("").isEmpty)
        #expect(try minutes("60") == [.production: .seconds(3600), .sandbox: .seconds(3600)])
        #expect(try minutes("Production=5") == [.production: .seconds(300)])
        for bad in ["0", "10081", "often", "Xcode=5"] { #expect(throws: CommandFailure.self) { try minutes(bad) } }
    }

    @Test("limit the age of what is posted in every environment served, or in each as it is told; in none by default")
    func maximumAge() throws {
        #expect(try ages("").isEmpty)
        #expect(try ages("30") == [.production: .seconds(30 * 86_400), .sandbox: .seconds(30 * 86_400)])
        #expect(try ages("1", environments: "Xcode") == [.xcode: .seconds(86_400)])
        #expect(try ages("Production=30, Sandbox=7")[.sandbox] == .seconds(7 * 86_400))
        #expect(try ages("Sandbox=7") == [.sandbox: .seconds(7 * 86_400)])
        for bad in ["0", "-1", "soon", "Moon=3", "Xcode=3", "Production=", "=3", "36501", "3=Production"] {
            #expect(throws: CommandFailure.self, "\(bad)") { try ages(bad) }
        }
    }

    @Test("reach the worker: what is older than its environment's limit is a dead letter, and is done where it is not")
    func workersLimit() async throws {
        let tenDaysAgo = Milliseconds(Int64(Date().timeIntervalSince1970 - 864_000) * 1000)
        for (limit, dead) in [("Sandbox=3", ["payload_too_old"]), ("Production=3", [])] {
            try await withSite { site in
                var subscriber = SimulatedSubscriber(lane: 1, seed: 1)
                subscriber.buy(.premiumMonthly, at: tenDaysAgo)
                let texts = subscriber.takeNotifications().map { $0.signed(by: site.authority) }
                try await site.outbox.store(texts.map { Array($0.utf8) })
                try await site.with(["work"], ["STOREHOOK_MAX_PAYLOAD_AGE_DAYS": limit]) { _ in
                    try await site.untilDone()
                }
                let letters = try await site.outbox.deadLetters(DeadLetterFilter(), limit: 9)
                #expect(letters.map(\.reason) == dead, "\(limit)")
                #expect(try await site.outbox.conservation().applied == (dead.isEmpty ? 1 : 0))
            }
        }
    }

    /// The apps as `com.a=1 com.b`, or what is refused.
    private func apps(_ list: String, _ bundleID: String = "", _ number: String = "") -> String {
        let settings = Settings(environment: [
            "STOREHOOK_APPS": list, "APPLE_BUNDLE_ID": bundleID, "APPLE_APP_ID": number,
        ])
        do {
            return try settings.verifier().apps.sorted { $0.key < $1.key }
                .map { app, number in app + (number.map { "=\($0)" } ?? "") }.joined(separator: " ")
        } catch { return "\((error as? CommandFailure)?.message ?? "\(error)")" }
    }

    @Test(
        "serve the one app of APPLE_BUNDLE_ID and APPLE_APP_ID where STOREHOOK_APPS is not set, and refuse a contradiction"
    )
    func oneApp() {
        #expect(apps("") == "")
        #expect(apps("", "com.a", "7") == "com.a=7")
        #expect(apps("", "com.a") == "com.a")
        #expect(apps(" ", " com.a\n", "'7'") == "com.a=7")
        // Both at once, of one mind: also where one says more than the other.
        #expect(apps("com.a=7", "com.a", "7") == "com.a=7")
        #expect(apps("com.a=7,com.b=8", "com.b", "8") == "com.a=7 com.b=8")
        #expect(apps("com.a=7,com.b=8", "com.b") == "com.a=7 com.b=8")
        #expect(apps("com.a", "com.a", "7") == "com.a=7")
        #expect(apps("com.a", "", "7") == "com.a=7")
        #expect(apps("com.a=7,com.b", "com.b", "8") == "com.a=7 com.b=8")
        #expect(apps("com.a=7,com.b=8", "", "8") == "com.a=7 com.b=8")
        // Of two minds, or of none.
        for (list, bundleID, number, named) in [
            ("com.a=7", "com.b", "", "APPLE_BUNDLE_ID"), (",", "com.b", "", "APPLE_BUNDLE_ID"),
            ("com.a=7", "com.a", "8", "APPLE_APP_ID"), ("com.a=7", "", "8", "APPLE_APP_ID"),
            ("com.a=7,com.b=8", "com.b", "7", "APPLE_APP_ID"), ("com.a=7,com.b=8", "", "9", "APPLE_APP_ID"),
            ("com.a=7,com.b", "", "9", "APPLE_APP_ID"), ("", "", "7", "APPLE_BUNDLE_ID"),
            ("", "com.a,com.b", "", "APPLE_BUNDLE_ID"), ("", "com.a=7", "", "APPLE_BUNDLE_ID"),
            ("", "com.a", "0", "APPLE_APP_ID"), ("", "com.a", "-7", "APPLE_APP_ID"),
            ("", "com.a", "7a", "APPLE_APP_ID"),
            ("", "com.a", "99999999999999999999", "APPLE_APP_ID"),
        ] {
            #expect(apps(list, bundleID, number).contains(named), "\(list) \(bundleID) \(number)")
        }
    }

    @Test(
        "of one app are enough for the programs: a worker applies what is posted for it, verify and apps take it for served"
    )
    func oneAppServed() async throws {
        try await withSite { site in
            let one = [
                "STOREHOOK_APPS": "", "APPLE_BUNDLE_ID": Site.app.bundleId, "APPLE_APP_ID": "\(Site.app.appAppleId)",
                "STOREHOOK_ENVIRONMENTS": "Production",
            ]
            var app = Site.app
            app.environment = .production
            var subscriber = SimulatedSubscriber(app: app, lane: 1, seed: 1)
            subscriber.buy(.premiumMonthly, at: Site.now - 10_000_000)
            let texts = subscriber.takeNotifications().map { $0.signed(by: site.authority) }
            try await site.outbox.store(texts.map { Array($0.utf8) })
            try await site.with(["work"], one) { _ in try await site.untilDone() }
            #expect(try await site.outbox.conservation().applied == texts.count)
            #expect(try await site.run("apps", "--check", with: one).ending == .exited(0))
            try await withTemporaryDirectory { directory in
                let file = "\(directory)/notification.jws"
                try texts[0].write(toFile: file, atomically: true, encoding: .utf8)
                #expect(try await site.run("verify", file, with: one).ending == .exited(0))
                let other = try await site.run("verify", file, with: one.merging(["APPLE_APP_ID": "7"]) { $1 })
                #expect(other.ending == .exited(1) && other.output.contains("wrong_app_apple_id"), "\(other.output)")
            }
            let torn = try await site.run("work", with: one.merging(["STOREHOOK_APPS": "com.example.other=1"]) { $1 })
            #expect(torn.ending == .exited(2) && torn.errorLines == 1 && torn.errors.contains("APPLE_BUNDLE_ID"))
        }
    }

    private func trust(_ environments: String, _ roots: String = "") throws -> VerifierConfiguration {
        try Settings(environment: ["STOREHOOK_ENVIRONMENTS": environments, "STOREHOOK_TRUSTED_ROOTS": roots]).verifier()
    }

    @Test("name an environment that nobody knows, and serve none of a developer's machine beside Production")
    func environments() throws {
        #expect(try trust("").environments == [.production, .sandbox])
        #expect(try trust(" Sandbox ,Production,").environments == [.production, .sandbox])
        for (bad, named) in [
            ("Production,Sandbx", "\"Sandbx\""), ("production", "\"production\""), ("SANDBOX", "\"SANDBOX\""),
            ("Production;Sandbox", "\"Production;Sandbox\""), (",", "names none"),
            ("Production,Xcode", "Xcode is not served beside Production"),
            ("LocalTesting,Production", "LocalTesting is not served beside Production"),
        ] {
            let roots = "Xcode:\(Fingerprint.appleRootG3),LocalTesting:\(Fingerprint.appleRootG3)"
            do {
                _ = try trust(bad, roots)
                Issue.record("\(bad) was accepted")
            } catch let failure as CommandFailure {
                #expect(failure.status == .usage && failure.message.contains("STOREHOOK_ENVIRONMENTS"))
                #expect(failure.message.contains(named), "\(failure.message)")
            }
        }
    }

    @Test("trust a root for the environments named with it, and without a name for Production and Sandbox")
    func roots() throws {
        let apple = Fingerprint.appleRootG3
        let own = Fingerprint(of: [1])
        let colons = stride(from: 0, to: 64, by: 2).map { start in
            "\(own)".dropFirst(start).prefix(2)
        }.joined(separator: ":")
        #expect(try trust("").trustedRoots == TrustedRoots(appStore: [apple]))
        #expect(try trust("", "\(own)").trustedRoots == TrustedRoots(appStore: [own]))
        #expect(try trust("", colons).trustedRoots == TrustedRoots(appStore: [own]))
        let mixed = try trust("Sandbox,Xcode", "\(apple), Xcode:\(colons)").trustedRoots
        #expect(mixed == TrustedRoots([.production: [apple], .sandbox: [apple], .xcode: [own]]))
        #expect(try trust("Sandbox", "Sandbox:\(own)").trustedRoots == TrustedRoots([.sandbox: [own]]))
        for (environments, bad) in [
            ("", "12ab"), ("", "Moon:\(own)"), ("", "xcode:\(own)"), ("", "Xcode:"), ("Sandbox,Xcode", ""),
            ("Xcode", "\(own)"), ("Xcode", "Sandbox:\(own)"),
        ] {
            #expect(throws: CommandFailure.self, "\(environments) \(bad)") { try trust(environments, bad) }
        }
    }

    @Test("name the proxies that are believed, and bound what an address may hold")
    func senders() throws {
        let settings = Settings(environment: [
            "STOREHOOK_TRUSTED_PROXIES": "10.0.0.0/8, ::1", "STOREHOOK_CONNECTIONS_PER_ADDRESS": "7",
        ])
        let inside = try #require(NetworkAddress("10.1.2.3"))
        #expect(try settings.trustedProxies().contains(inside) && settings.connectionsPerAddress() == 7)
        let usual = Settings(environment: [:])
        #expect(try !usual.trustedProxies().contains(inside) && usual.connectionsPerAddress() == 512)
        // A proxy on the same machine is one without a word.
        #expect(try usual.trustedProxies().description == "127.0.0.0/8,::1")
        let none = Settings(environment: ["STOREHOOK_TRUSTED_PROXIES": "none"])
        #expect(try none.trustedProxies() == TrustedProxies())
        for bad in ["10.0.0.0/33", "localhost", "10.0.0.0-10.0.0.9", "none,::1"] {
            let settings = Settings(environment: ["STOREHOOK_TRUSTED_PROXIES": bad])
            #expect(throws: CommandFailure.self, "\(bad)") { try settings.trustedProxies() }
        }
    }

    @Test("have the days of grace that App Store Connect offers, 16 by default")
    func graceDays() throws {
        #expect(try Settings(environment: [:]).statusPolicy() == StatusPolicy(renewalLeewaySeconds: 600))
        for days in [3, 16, 28] as [Int64] {
            let settings = Settings(environment: ["STOREHOOK_GRACE_DAYS": "\(days)"])
            #expect(try settings.statusPolicy() == StatusPolicy(graceDays: days, renewalLeewaySeconds: 600))
        }
        for bad in ["0", "7", "-16", "a week", "16 days"] {
            let settings = Settings(environment: ["STOREHOOK_GRACE_DAYS": bad])
            #expect(throws: CommandFailure.self, "\(bad)") { try settings.statusPolicy() }
        }
    }

    @Test("wait ten minutes for a renewal that may only be late, or as long as they are told")
    func renewalLeeway() throws {
        func seconds(_ value: String?) throws -> Int64 {
            let environment = value.map { ["STOREHOOK_RENEWAL_LEEWAY": $0] } ?? [:]
            return try Settings(environment: environment).statusPolicy().renewalLeewaySeconds
        }
        #expect(try seconds(nil) == 600)
        for (value, expected) in [("0", 0), ("15", 900), ("90s", 90), ("10m", 600), ("24h", 86_400)]
            as [(String, Int64)]
        {
            #expect(try seconds(value) == expected, "\(value)")
        }
        for bad in ["-1", "soon", "10 m", "25h", "m", "1d"] {
            #expect(throws: CommandFailure.self, "\(bad)") { try seconds(bad) }
        }
    }

    @Test("that the documents name are read, and each that is read stands in a table of the chapter Configuration")
    func documented() throws {
        func text(_ path: String) throws -> String {
            try String(contentsOf: packageRoot.appending(path: path), encoding: .utf8)
        }
        func names(_ text: String) -> Set<String> {
            Set(text.matches(of: /\bSTOREHOOK_[A-Z_]+[A-Z]\b/).map { String($0.0) })
        }
        // swift-configuration makes a variable's name of a key by its dots; those for a single app's key begin otherwise.
        let read = Set(
            try [
                "Settings.swift", "Settings+api.swift", "Settings+apple.swift", "Settings+apps.swift",
                "Settings+consumption.swift", "Settings+endpoints.swift", "Settings+log.swift", "Settings+staff.swift",
            ].flatMap { file in
                try text("Sources/Programs/storehook/\(file)").matches(of: /"((?:storehook|apple)(?:\.[a-z]+)+)"/)
                    .map { $0.1.uppercased().replacing(".", with: "_") }
            })
        #expect(read.count >= 12)
        for document in try Document.all() {
            // Those of the tests are nothing that a program reads.
            let unknown = names(document.text).subtracting(read).filter { !$0.hasPrefix("STOREHOOK_TEST_") }
            #expect(unknown == [], "\(document.path)")
        }
        #expect(names(try text("deploy/systemd/storehook.conf")).subtracting(read) == [])
        for file in ["systemd/storehook.conf", "compose.env.example", "compose.yaml", "kubernetes/config.yaml", "run"] {
            let text = try text("deploy/\(file)")
            for name in ["STOREHOOK_APPS", "APPLE_BUNDLE_ID", "APPLE_APP_ID"] {
                #expect(text.contains(name), "\(file): \(name)")
            }
        }
        let rows = try Document(Document.chapter("Configuration")).prose.filter { $0.hasPrefix("| `") }
        let listed = rows.flatMap { row in
            row.split(separator: "|").first?.matches(of: /`([A-Z_]+)`/).map { String($0.output.1) } ?? []
        }
        #expect(Set(listed).count == listed.count, "each setting has one row")
        // Read to be refused.
        let refused: Set = ["STOREHOOK_SKIP_VERIFICATION"]
        #expect(Set(listed).symmetricDifference(read.union(["DATABASE_URL"])) == refused)
    }
}
