import AppStorePayloads
import AppStoreVerification
import Base
import Configuration
import EvidenceStore
import Foundation
import HTTPKit
import Postgres
import Subscriptions

/// What the environment and the configuration file say. The environment wins.
///
/// The only place that reads either. Values follow one grammar wherever they stand, ``SettingValue``. A bad value is named with the
/// variable it stands in; a secret is never repeated. A value in the environment is refused by the programs that read it, and a line
/// of a file by all that are given the file.
struct Settings: Sendable {
    private let reader: ConfigReader
    /// What is set and no program reads; see ``SettingNames``.
    let unknown: [SettingNames.Unknown]

    /// What this environment says alone.
    init(environment: [String: String]) {
        unknown = SettingNames.unknown(environment: environment.keys, file: [])
        reader = ConfigReader(providers: [Self.provider(environment)])
    }

    /// A variable that says nothing counts as missing, also where the file has a value.
    private static func provider(_ values: [String: String]) -> any ConfigProvider {
        EnvironmentVariablesProvider(environmentVariables: values.filter { !SettingValue.isEmpty($0.value) })
    }

    /// What the process's environment and a file say.
    /// - Parameter file: see ``SettingsFile``; the names are the environment's.
    init(file: String?) throws {
        let environment = ProcessInfo.processInfo.environment
        var providers = [Self.provider(environment)]
        let values = try file.map { try SettingsFile.read($0) } ?? [:]
        providers.append(Self.provider(values))
        unknown = SettingNames.unknown(environment: environment.keys, file: values.keys)
        reader = ConfigReader(providers: providers)
    }

    /// Settings whose values may have line ends inside: lists, as YAML folds them; libpq's keyword string; and base64, which breaks
    /// its lines.
    static let inSeveralLines: Set<String> = [
        "DATABASE_URL", "APPLE_PRIVATE_KEY", "STOREHOOK_APPS", "STOREHOOK_ENVIRONMENTS", "STOREHOOK_TRUSTED_ROOTS",
        "STOREHOOK_TRUSTED_PROXIES", "STOREHOOK_TESTERS", "STOREHOOK_CORS_ORIGINS", "STOREHOOK_ENDPOINT_NETWORKS",
        "STOREHOOK_CANARY_MINUTES", "STOREHOOK_MAX_PAYLOAD_AGE_DAYS",
    ]

    /// Whether a variable says anything, be it right or wrong.
    func isSet(_ key: ConfigKey) -> Bool { reader.string(forKey: key) != nil }

    /// What a variable says; nil where it is missing or empty.
    /// - Throws: `CommandFailure` naming it.
    func text(_ key: ConfigKey) throws -> String? {
        guard let raw = reader.string(forKey: key, isSecret: true) else { return nil }
        let name = Self.name(key)
        do throws(SettingValue.Fault) {
            return try SettingValue.read(raw, lines: Self.inSeveralLines.contains(name))
        } catch {
            throw CommandFailure("\(name): \(error)", status: .usage)
        }
    }

    /// The elements of a list, without the white space around each.
    func list(_ key: ConfigKey) throws -> [String]? {
        guard let value = try text(key) else { return nil }
        let elements = value.split(separator: ",").map { SettingValue.trimmed($0) }.filter { !$0.isEmpty }
        for element in elements { try refuseLines(in: element, of: key) }
        return elements
    }

    private static func name(_ key: ConfigKey) -> String { key.components.joined(separator: "_").uppercased() }

    /// Refuses line ends within what may only stand between them.
    private func refuseLines(in text: String, of key: ConfigKey) throws {
        do throws(SettingValue.Fault) {
            try SettingValue.refuseUnseen(in: text)
        } catch {
            throw CommandFailure("\(Self.name(key)): \(error)", status: .usage)
        }
    }

    func positive(_ key: ConfigKey, _ name: String, default usual: Int, upTo most: Int) throws -> Int {
        guard let value = try text(key) else { return usual }
        guard let number = Int(value), (1...most).contains(number) else {
            throw CommandFailure("\(name) must be a whole number from 1 to \(most)", status: .usage)
        }
        return number
    }

    /// That a setting is missing. It names what is set and is no setting, first what was probably meant for the missing one.
    /// - Parameter text: the setting's name, and what to write.
    func missing(_ text: String) -> CommandFailure {
        let meant = unknown.filter { $0.nearest.map { text.contains($0) } ?? false }
        let named = (meant + unknown.filter { !meant.contains($0) }).prefix(3)
        return CommandFailure(([text] + named.map(\.description)).joined(separator: "; "), status: .usage)
    }

    /// Whether `DATABASE_URL` is set, for commands that can do without.
    var hasDatabase: Bool { isSet("database.url") }

    /// `DATABASE_URL`.
    func database() throws -> PostgresConfiguration {
        guard let url = try text("database.url") else {
            throw missing("DATABASE_URL is not set; example: postgresql://storehook@localhost/storehook")
        }
        if url.hasPrefix("postgres") { try refuseLines(in: url, of: "database.url") }
        do {
            return try PostgresConfiguration(url: url)
        } catch {
            throw CommandFailure("DATABASE_URL: \(error.message)", status: .usage)
        }
    }

    /// `DATABASE_URL` for programs that run on: of several hosts the one that takes writes, whichever it is at the time, and
    /// none that does not.
    func writableDatabase() throws -> PostgresConfiguration {
        var configuration = try database()
        configuration.requiresWrites = true
        return configuration
    }

    /// `DATABASE_URL` for the receiver, with short timeouts: for a waiting sender an error to retry is better than
    /// waiting.
    func receiverDatabase() throws -> PostgresConfiguration {
        var configuration = try writableDatabase()
        configuration.queryTimeout = .seconds(4)
        configuration.acquireTimeout = .seconds(2)
        configuration.cancelGracePeriod = .seconds(1)
        return configuration
    }

    /// `DATABASE_URL` for metrics: that the database is unavailable is to be known soon.
    func monitorDatabase() throws -> PostgresConfiguration {
        var configuration = try writableDatabase()
        configuration.acquireTimeout = .seconds(2)
        configuration.cancelGracePeriod = .seconds(1)
        return configuration
    }

    /// ``apps()``, `STOREHOOK_ENVIRONMENTS`, `STOREHOOK_TRUSTED_ROOTS`, `STOREHOOK_MAX_PAYLOAD_AGE_DAYS`.
    func verifier() throws -> VerifierConfiguration {
        let environments = try environments()
        return VerifierConfiguration(
            apps: try apps(), environments: environments, trustedRoots: try trustedRoots(for: environments),
            maximumAges: try maximumAges(in: environments))
    }

    /// `STOREHOOK_GRACE_DAYS`: the grace period for Production that the operator has chosen in App Store Connect, among
    /// those that it offers. `STOREHOOK_RENEWAL_LEEWAY`: how late a renewal may be before access ends.
    func statusPolicy() throws -> StatusPolicy {
        var policy = StatusPolicy.usual
        if let value = try text("storehook.grace.days") {
            guard let days = Int64(value), [3, 16, 28].contains(days) else {
                throw CommandFailure(
                    "STOREHOOK_GRACE_DAYS must be 3, 16 or 28, as App Store Connect has it", status: .usage)
            }
            policy.graceDays = days
        }
        if let value = try text("storehook.renewal.leeway") {
            guard let seconds = Self.seconds(value), seconds <= 86_400 else {
                throw CommandFailure(
                    "STOREHOOK_RENEWAL_LEEWAY must be 0 to 24h: so many minutes, or with a unit, as 90s, 10m or 2h",
                    status: .usage)
            }
            policy.renewalLeewaySeconds = seconds
        }
        return policy
    }

    /// A length of time: minutes, or with a unit of s, m or h.
    private static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600]
        let unit = text.last.flatMap { units[$0] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard let number = Int64(digits), (0...86_400).contains(number) else { return nil }
        return number * (unit ?? 60)
    }

    private func maximumAges(in environments: Set<Environment>) throws -> [Environment: Duration] {
        try numbers(
            "storehook.max.payload.age.days", "STOREHOOK_MAX_PAYLOAD_AGE_DAYS", in: environments, upTo: 36_500,
            unit: "days", example: "30, or Production=30,Sandbox=7"
        ).mapValues { .seconds($0 * 86_400) }
    }

    /// One number for every environment served, or one for each of some.
    func numbers(
        _ key: ConfigKey, _ variable: String, in environments: Set<Environment>, upTo most: Int64, unit: String,
        example: String
    ) throws -> [Environment: Int64] {
        var numbers: [Environment: Int64] = [:]
        for entry in try list(key) ?? [] {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let places = parts.count == 1 ? environments : [Environment(rawValue: String(parts[0]))]
            guard let number = Int64(parts.last ?? ""), (1...most).contains(number),
                places.isSubset(of: environments)
            else {
                throw CommandFailure(
                    "\(variable): write \(unit) from 1 to \(most), for all environments served or for "
                        + "each: \(example)", status: .usage)
            }
            for place in places { numbers[place] = number }
        }
        return numbers
    }

    /// Apple's own, and those of a developer's machine: these two never meet, in one program or in one database.
    private static let purchases: Set<Environment> = [.production, .sandbox]

    private func environments() throws -> Set<Environment> {
        guard let names = try list("storehook.environments") else { return Self.purchases }
        let environments = try Set(names.map { try environment($0, in: "STOREHOOK_ENVIRONMENTS") })
        guard !environments.isEmpty else {
            throw CommandFailure(
                "STOREHOOK_ENVIRONMENTS names none; write some of \(Self.environmentNames)", status: .usage)
        }
        if environments.contains(.production), let test = environments.subtracting(Self.purchases).first {
            throw CommandFailure(
                "STOREHOOK_ENVIRONMENTS: \(test) is not served beside Production, where everybody with Xcode could sign "
                    + "purchases into it; give it a database and programs of its own", status: .usage)
        }
        return environments
    }

    /// An environment by its exact name.
    private func environment(_ name: some StringProtocol, in variable: String) throws -> Environment {
        let environment = Environment(rawValue: String(name))
        guard environment.isKnown else {
            throw CommandFailure(
                "\(variable): \(Self.quoted(name)) is no environment; write some of \(Self.environmentNames)",
                status: .usage)
        }
        return environment
    }

    private static let environmentNames = "Production, Sandbox, Xcode, LocalTesting"

    /// The operator's text, fit for an error of one line.
    static func quoted(_ text: some StringProtocol) -> String {
        "\"" + text.prefix(40).filter { !$0.isNewline && $0.isASCII } + "\""
    }

    /// `Xcode:63343abf…` trusts a root for Xcode alone; without an environment it is one for Production and Sandbox.
    private func trustedRoots(for environments: Set<Environment>) throws -> TrustedRoots {
        var roots = TrustedRoots(appStore: [.appleRootG3])
        if let texts = try list("storehook.trusted.roots") {
            roots = TrustedRoots([:])
            for text in texts {
                let (places, digits) = try rootParts(text)
                guard let fingerprint = Fingerprint(digits) else {
                    throw CommandFailure(
                        "STOREHOOK_TRUSTED_ROOTS: a fingerprint is 64 hexadecimal digits, the SHA-256 of the root's DER, and no "
                            + "file; of a file in PEM this prints them: openssl x509 -in root.pem -noout -fingerprint -sha256 "
                            + "(DER: -inform der); for another environment than Production and Sandbox its name stands before them: "
                            + "Xcode:6334...",
                        status: .usage)
                }
                for place in places { roots.byEnvironment[place, default: []].insert(fingerprint) }
            }
        }
        for environment in environments.subtracting(Self.purchases)
        where roots.byEnvironment[environment, default: []].isEmpty {
            throw CommandFailure(
                "STOREHOOK_TRUSTED_ROOTS names no root for \(environment): add \(environment): and the SHA-256 of the root's "
                    + "DER; a root without a name before it is one for Production and Sandbox", status: .usage)
        }
        return roots
    }

    /// The environments that an entry speaks of, and its digits, between which colons may stand too.
    private func rootParts(_ text: String) throws -> (environments: Set<Environment>, digits: Substring) {
        guard let colon = text.firstIndex(of: ":"), !text[..<colon].allSatisfy(\.isHexDigit) else {
            return (Self.purchases, text[...])
        }
        return ([try environment(text[..<colon], in: "STOREHOOK_TRUSTED_ROOTS")], text[text.index(after: colon)...])
    }

    /// `STOREHOOK_MAX_ATTEMPTS`.
    func retries() throws -> ClaimPolicy {
        ClaimPolicy(
            maximumAttempts: try positive(
                "storehook.max.attempts", "STOREHOOK_MAX_ATTEMPTS", default: ClaimPolicy().schedule.attempts, upTo: 1000
            ))
    }

    /// `STOREHOOK_LISTEN`: whether a worker also listens for new rows, instead of polling alone.
    func listens() throws -> Bool {
        switch try text("storehook.listen") ?? "auto" {
        case "auto": return true
        case "off": return false
        default: throw CommandFailure("STOREHOOK_LISTEN must be auto or off", status: .usage)
        }
    }

    /// `STOREHOOK_REVOCATION`: whether authorities are asked if they have revoked a certificate.
    func checksRevocation() throws -> Bool {
        switch try text("storehook.revocation") ?? "off" {
        case "ocsp": return true
        case "off": return false
        default: throw CommandFailure("STOREHOOK_REVOCATION must be ocsp or off", status: .usage)
        }
    }

    /// `STOREHOOK_LEASE_SECONDS`.
    func lease() throws -> Duration {
        .seconds(try positive("storehook.lease.seconds", "STOREHOOK_LEASE_SECONDS", default: 60, upTo: 86_400))
    }

    /// - `STOREHOOK_JUNK_DAYS`: when letters that did not verify are given up.
    /// - `STOREHOOK_DELIVERY_DAYS`: how long the results of deliveries are kept.
    /// - `STOREHOOK_HISTORY_DAYS`: how long attempts to buy are kept, and consents after they were superseded.
    /// - `STOREHOOK_RETENTION_DAYS`: how long Apple's bytes are kept; `forever`, or 0, drops none.
    func retention() throws -> Retention {
        var retention = Retention.usual
        retention.junkDays = try positive("storehook.junk.days", "STOREHOOK_JUNK_DAYS", default: 7, upTo: 36_500)
        retention.deliveryDays = try positive(
            "storehook.delivery.days", "STOREHOOK_DELIVERY_DAYS", default: 30, upTo: 36_500)
        retention.historyDays = try positive(
            "storehook.history.days", "STOREHOOK_HISTORY_DAYS", default: 90, upTo: 36_500)
        guard let value = try text("storehook.retention.days") else { return retention }
        if value == "forever" || value == "0" {
            retention.days = nil
            return retention
        }
        guard let days = Int(value), (Retention.minimumDays...36_500).contains(days) else {
            throw CommandFailure(
                "STOREHOOK_RETENTION_DAYS must be forever or a whole number from \(Retention.minimumDays) to 36500",
                status: .usage)
        }
        retention.days = days
        return retention
    }

    /// `STOREHOOK_JUNK_PER_MINUTE`, `STOREHOOK_JUNK_MIB_PER_DAY`: how much of what does not verify may come from one address.
    func junkLimits() throws -> JunkLimits {
        JunkLimits(
            perMinute: try positive(
                "storehook.junk.per.minute", "STOREHOOK_JUNK_PER_MINUTE", default: 120, upTo: 1_000_000),
            bytesPerDay: Int64(
                try positive(
                    "storehook.junk.mib.per.day", "STOREHOOK_JUNK_MIB_PER_DAY", default: 64, upTo: 1_000_000)) << 20)
    }

    /// `STOREHOOK_TRUSTED_PROXIES`: the proxies whose `X-Forwarded-For` names the sender; by default those of this
    /// machine.
    func trustedProxies() throws -> TrustedProxies {
        guard let proxies = try list("storehook.trusted.proxies") else { return .loopback }
        if proxies == ["none"] { return TrustedProxies() }
        return TrustedProxies(
            try proxies.map { text in
                guard let block = AddressBlock(around: text) else {
                    throw CommandFailure(
                        "STOREHOOK_TRUSTED_PROXIES: write addresses or blocks of them, comma-separated, or none: "
                            + "10.0.0.0/8,::1",
                        status: .usage)
                }
                return block
            })
    }

    /// `STOREHOOK_CONNECTIONS_PER_ADDRESS`: how many connections an address may hold that is no trusted proxy's.
    func connectionsPerAddress() throws -> Int {
        try positive(
            "storehook.connections.per.address", "STOREHOOK_CONNECTIONS_PER_ADDRESS", default: 512, upTo: 1_000_000)
    }

    /// `STOREHOOK_TLS_CERTIFICATE` and `STOREHOOK_TLS_KEY`, read; arguments override them. Nil where none is given.
    func tls(certificate: String? = nil, key: String? = nil) throws -> TLSIdentity? {
        let certificate = try certificate ?? text("storehook.tls.certificate")
        let key = try key ?? text("storehook.tls.key")
        switch (certificate, key) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            do {
                return try TLSIdentity(certificateFile: certificate, keyFile: key)
            } catch {
                throw CommandFailure("TLS: \(error)", status: .usage)
            }
        default:
            throw CommandFailure(
                "TLS needs both a certificate and its key: --tls-certificate (STOREHOOK_TLS_CERTIFICATE) and "
                    + "--tls-key (STOREHOOK_TLS_KEY)", status: .usage)
        }
    }
}
