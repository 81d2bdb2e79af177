import AppStoreVerification
import AppleRecords
import Base
import Crypto
import Foundation
import Logging
import TestSupport

@testable import storehook

/// One setting with a value that makes a difference.
struct SettingCase: Sendable {
    let name: String
    let value: String
    /// What else has to be set, so that it counts.
    var beside: [String: String] = [:]
    /// What the programs make of it.
    let reading: @Sendable (Settings) throws -> String

    /// What the programs make of it in these words; "fault" where they refuse it.
    func read(_ words: String?) -> String {
        let environment = beside.merging([name: words ?? ""]) { $1 }
        return (try? reading(Settings(environment: environment))) ?? "fault"
    }

    /// Its value with an invisible character in the middle.
    var unseen: String {
        var text = value
        text.insert("\u{1}", at: text.index(after: text.startIndex))
        return text
    }

    /// Runs `body` with every setting, while the files last that they name.
    static func withAll<T>(
        isolation: isolated (any Actor)? = #isolation, _ body: ([SettingCase]) async throws -> T
    ) async throws -> T {
        try await CertificateFiles.with(try ServerCertificate()) { files in
            try await withTemporaryDirectory { directory in
                func file(_ name: String, _ text: String) throws -> String {
                    let path = "\(directory)/\(name)"
                    guard
                        FileManager.default.createFile(
                            atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
                    else { throw NeverHappened("a file \(name)") }
                    return path
                }
                let pem = P256.Signing.PrivateKey().pemRepresentation
                _ = try file("key.p8", pem)
                let keys = try file(
                    "keys.yaml", "com.example.app: {issuer_id: issuer, key_id: KEYID12345, private_key_file: key.p8}\n")
                let policy = try file(
                    "policy.yaml",
                    "rules:\n  - answer: {delivery_status: DELIVERED, sample_content_provided: false}\n")
                return try await body(
                    receiver(files) + workers(policy: policy) + apple(keys: keys, pem: pem) + api() + console()
                        + events(secret: makeSecretKey(in: directory), certificates: files.certificateFile))
            }
        }
    }

    private static func receiver(_ files: CertificateFiles) -> [SettingCase] {
        let fingerprint = "\(Fingerprint(of: [1]))"
        return [
            SettingCase(name: "DATABASE_URL", value: "postgresql://someone@db.example/name") { "\(try $0.database())" },
            SettingCase(name: "STOREHOOK_APPS", value: "com.example.app=1,com.example.other") {
                "\(try $0.verifier().apps.sorted { $0.key < $1.key })"
            },
            SettingCase(name: "APPLE_APP_ID", value: "1234567890", beside: ["APPLE_BUNDLE_ID": "com.example.app"]) {
                "\(try $0.verifier().apps)"
            },
            SettingCase(name: "STOREHOOK_ENVIRONMENTS", value: "Sandbox") { "\(try $0.verifier().environments)" },
            SettingCase(name: "STOREHOOK_LOG_LEVEL", value: "error") { "\(try $0.logger("x").logLevel)" },
            SettingCase(name: "STOREHOOK_LOG_FORMAT", value: StandardError.isTerminal ? "json" : "text") {
                "\(type(of: try $0.logger("x").handler))"
            },
            SettingCase(name: "STOREHOOK_TRUSTED_ROOTS", value: fingerprint) {
                "\(try $0.verifier().trustedRoots.all)"
            },
            SettingCase(name: "STOREHOOK_REVOCATION", value: "ocsp") { "\(try $0.checksRevocation())" },
            SettingCase(name: "STOREHOOK_MAX_PAYLOAD_AGE_DAYS", value: "Sandbox=30") {
                "\(try $0.verifier().maximumAges)"
            },
            SettingCase(
                name: "STOREHOOK_TLS_CERTIFICATE", value: files.certificateFile,
                beside: ["STOREHOOK_TLS_KEY": files.keyFile]
            ) { "\(try $0.tls() != nil)" },
            SettingCase(
                name: "STOREHOOK_TLS_KEY", value: files.keyFile,
                beside: ["STOREHOOK_TLS_CERTIFICATE": files.certificateFile]
            ) { "\(try $0.tls() != nil)" },
            SettingCase(name: "STOREHOOK_TRUSTED_PROXIES", value: "10.0.0.0/8") { "\(try $0.trustedProxies())" },
            SettingCase(name: "STOREHOOK_CONNECTIONS_PER_ADDRESS", value: "77") {
                "\(try $0.connectionsPerAddress())"
            },
            SettingCase(name: "STOREHOOK_JUNK_PER_MINUTE", value: "77") { "\(try $0.junkLimits())" },
            SettingCase(name: "STOREHOOK_JUNK_MIB_PER_DAY", value: "77") { "\(try $0.junkLimits())" },
        ]
    }

    private static func workers(policy: String) -> [SettingCase] {
        let retention: @Sendable (Settings) throws -> String = { "\(try $0.retention())" }
        let status: @Sendable (Settings) throws -> String = { "\(try $0.statusPolicy())" }
        return [
            SettingCase(name: "STOREHOOK_MAX_ATTEMPTS", value: "77") { "\(try $0.retries())" },
            SettingCase(name: "STOREHOOK_LEASE_SECONDS", value: "77") { "\(try $0.lease())" },
            SettingCase(name: "STOREHOOK_LISTEN", value: "off") { "\(try $0.listens())" },
            SettingCase(name: "STOREHOOK_GRACE_DAYS", value: "28", reading: status),
            SettingCase(name: "STOREHOOK_RENEWAL_LEEWAY", value: "2h", reading: status),
            SettingCase(name: "STOREHOOK_RETENTION_DAYS", value: "forever", reading: retention),
            SettingCase(name: "STOREHOOK_JUNK_DAYS", value: "77", reading: retention),
            SettingCase(name: "STOREHOOK_DELIVERY_DAYS", value: "77", reading: retention),
            SettingCase(name: "STOREHOOK_HISTORY_DAYS", value: "77", reading: retention),
            SettingCase(name: "STOREHOOK_FOUR_EYES", value: "yes") { "\(try $0.staffRules())" },
            SettingCase(name: "STOREHOOK_CONSUMPTION_POLICY", value: policy) {
                "\(try $0.consumptionPolicy() != nil)"
            },
        ]
    }

    private static func apple(keys: String, pem: String) -> [SettingCase] {
        let reading: @Sendable (Settings) throws -> String = { "\(try $0.appleKeys())" }
        let app = ["STOREHOOK_APPS": "com.example.app=1"]
        let apps = ["STOREHOOK_APPS": "com.example.app=1,com.example.other=2"]
        let key = [
            "APPLE_ISSUER_ID": "issuer", "APPLE_KEY_ID": "KEYID12345",
            "APPLE_PRIVATE_KEY": Data(pem.utf8).base64EncodedString(), "APPLE_BUNDLE_ID": "com.example.app",
        ]
        let single = key.map { name, value in
            SettingCase(name: name, value: value, beside: apps.merging(key) { $1 }, reading: reading)
        }
        return single + [
            SettingCase(name: "APPLE_SHARED_SECRET", value: "hush", beside: app, reading: reading),
            SettingCase(name: "STOREHOOK_APPLE_KEYS", value: keys, beside: app, reading: reading),
            SettingCase(
                name: "STOREHOOK_APPLE_URL", value: "http://127.0.0.1:9",
                beside: app.merging(["STOREHOOK_APPLE_KEYS": keys]) { $1 }
            ) { "\(try $0.appleHosts())" },
            SettingCase(
                name: "STOREHOOK_CANARY_MINUTES", value: "Sandbox=77",
                beside: app.merging(["STOREHOOK_APPLE_KEYS": keys]) { $1 }
            ) { "\(try $0.canaryIntervals())" },
        ]
    }

    /// What `storehook serve` needs of it.
    static let tokens = [
        "STOREHOOK_JWT_KEYS": "https://login.example.com/jwks.json",
        "STOREHOOK_JWT_ISSUER": "https://login.example.com/", "STOREHOOK_JWT_AUDIENCE": "store",
    ]

    private static func api() -> [SettingCase] {
        let rules: @Sendable (Settings) throws -> String = { "\(try $0.tokenRules())" }
        // The characters in order: a dictionary is described in another order each time.
        let sandbox: @Sendable (Settings) throws -> String = { String("\(try $0.sandboxAccess())".sorted()) }
        let rates: @Sendable (Settings) throws -> String = { "\(try $0.requestRates())" }
        return [
            SettingCase(name: "STOREHOOK_JWT_KEYS", value: "https://login.example.com/keys", beside: tokens) {
                "\(try $0.tokenKeys())"
            },
            SettingCase(
                name: "STOREHOOK_JWT_SECRET_FILE", value: "/etc/storehook/jwt-secret",
                beside: tokens.merging(["STOREHOOK_JWT_KEYS": ""]) { $1 }
            ) { "\(try $0.tokenKeys())" },
            SettingCase(name: "STOREHOOK_JWT_ISSUER", value: "https://x.example/", beside: tokens, reading: rules),
            SettingCase(name: "STOREHOOK_JWT_AUDIENCE", value: "an audience", beside: tokens, reading: rules),
            SettingCase(name: "STOREHOOK_JWT_ACCOUNT_CLAIM", value: "uid", beside: tokens, reading: rules),
            SettingCase(name: "STOREHOOK_JWT_ROLE_CLAIM", value: "rights", beside: tokens, reading: rules),
            SettingCase(name: "STOREHOOK_ACCOUNT_IDS", value: "uuid") { "\(String(describing: try $0.accountIDs()))" },
            SettingCase(name: "STOREHOOK_RESTORE", value: "transfer") { "\(try $0.restoreRule())" },
            SettingCase(name: "STOREHOOK_SANDBOX_ACCESS", value: "all", reading: sandbox),
            SettingCase(name: "STOREHOOK_TESTERS", value: "alice", reading: sandbox),
            SettingCase(name: "STOREHOOK_GUARD_OUTAGE", value: "allow") { "\(try $0.guardOutage())" },
            SettingCase(name: "STOREHOOK_CORS_ORIGINS", value: "https://app.example.com") {
                "\(try $0.corsPolicy())"
            },
            SettingCase(name: "STOREHOOK_REQUESTS_PER_ACCOUNT", value: "77", reading: rates),
            SettingCase(name: "STOREHOOK_REQUESTS_PER_ADDRESS", value: "77", reading: rates),
        ]
    }

    private static func console() -> [SettingCase] {
        let way: @Sendable (Settings) throws -> String = { "\(try $0.consoleWay())" }
        let proxy = "proxy:10.0.0.0/8"
        return [
            SettingCase(
                name: "STOREHOOK_CONSOLE_AUTH", value: proxy, beside: ["STOREHOOK_CONSOLE_GROUPS": "ops=admin"],
                reading: way),
            SettingCase(
                name: "STOREHOOK_CONSOLE_GROUPS", value: "ops=admin", beside: ["STOREHOOK_CONSOLE_AUTH": proxy],
                reading: way),
            SettingCase(name: "STOREHOOK_CONSOLE_PATH", value: "/desk") { try $0.consolePath() },
        ]
    }

    private static func events(secret: String, certificates: String) -> [SettingCase] {
        let policy: @Sendable (Settings) throws -> String = { "\(try $0.endpointPolicy())" }
        return [
            SettingCase(name: "STOREHOOK_SECRET_KEY_FILE", value: secret) { "\(try $0.secretKey() != nil)" },
            SettingCase(name: "STOREHOOK_ENDPOINT_HTTP", value: "on", reading: policy),
            SettingCase(name: "STOREHOOK_ENDPOINT_NETWORKS", value: "10.0.0.0/8", reading: policy),
            SettingCase(name: "STOREHOOK_ENDPOINT_CERTIFICATES", value: certificates) {
                "\(try $0.endpointRoots().count)"
            },
        ]
    }
}
