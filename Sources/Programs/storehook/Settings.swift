import AppStorePayloads
import AppStoreVerification
import Configuration
import Foundation
import HTTPServing
import Logging
import Outbox
import Postgres
import Queue
import Subscriptions
import SystemPackage

/// What the environment and the configuration file say. The environment wins.
///
/// The only place that reads either. A bad value is named with the variable it stands in; a secret is never repeated.
struct Settings: Sendable {
    private let reader: ConfigReader

    /// What this environment says alone.
    init(environment: [String: String]) {
        reader = ConfigReader(providers: [Self.provider(environment)])
    }

    /// An empty variable counts as missing, also where the file has a value.
    private static func provider(_ environment: [String: String]) -> any ConfigProvider {
        EnvironmentVariablesProvider(environmentVariables: environment.filter { !$0.value.isEmpty })
    }

    /// What the process's environment and a file say.
    /// - Parameter file: `NAME=value` lines with the same names as the environment's.
    init(file: String?) async throws {
        var providers = [Self.provider(ProcessInfo.processInfo.environment)]
        if let file {
            do {
                providers.append(try await EnvironmentVariablesProvider(environmentFilePath: FilePath(file)))
            } catch {
                throw CommandFailure("cannot read the configuration file \(file)", status: .usage)
            }
        }
        reader = ConfigReader(providers: providers)
    }

    /// The text of a variable; an empty one counts as missing.
    private func text(_ key: ConfigKey) -> String? {
        reader.string(forKey: key).flatMap { $0.isEmpty ? nil : $0 }
    }

    private func list(_ key: ConfigKey) -> [String]? {
        text(key).map { value in
            value.split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
        }
    }

    private func positive(_ key: ConfigKey, _ name: String, default usual: Int, upTo most: Int) throws -> Int {
        guard let value = text(key) else { return usual }
        guard let number = Int(value), (1...most).contains(number) else {
            throw CommandFailure("\(name) must be a whole number from 1 to \(most)", status: .usage)
        }
        return number
    }

    /// `DATABASE_URL`.
    func database() throws -> PostgresConfiguration {
        guard let url = text("database.url") else {
            throw CommandFailure(
                "DATABASE_URL is not set; example: postgresql://storehook@localhost/storehook", status: .usage)
        }
        do {
            return try PostgresConfiguration(url: url)
        } catch {
            throw CommandFailure("DATABASE_URL: \(error.message)", status: .usage)
        }
    }

    /// `DATABASE_URL` for the receiver: a sender waits, and is better told to come back than kept waiting.
    func receiverDatabase() throws -> PostgresConfiguration {
        var configuration = try database()
        configuration.queryTimeout = .seconds(4)
        configuration.acquireTimeout = .seconds(2)
        configuration.cancelGracePeriod = .seconds(1)
        return configuration
    }

    /// `DATABASE_URL` for metrics: that the database is unavailable is to be known soon.
    func monitorDatabase() throws -> PostgresConfiguration {
        var configuration = try database()
        configuration.acquireTimeout = .seconds(2)
        configuration.cancelGracePeriod = .seconds(1)
        return configuration
    }

    /// `STOREHOOK_APPS`, `STOREHOOK_ENVIRONMENTS`, `STOREHOOK_TRUSTED_ROOTS`, `STOREHOOK_MAX_PAYLOAD_AGE_DAYS`.
    func verifier() throws -> VerifierConfiguration {
        VerifierConfiguration(
            apps: try apps(), environments: environments(), trustedRoots: try trustedRoots(),
            maximumAges: try maximumAges())
    }

    /// `STOREHOOK_GRACE_DAYS`: what App Store Connect offers for Production, and the operator has chosen there.
    func statusPolicy() throws -> StatusPolicy {
        guard let value = text("storehook.grace.days") else { return StatusPolicy() }
        guard let days = Int64(value), [3, 16, 28].contains(days) else {
            throw CommandFailure(
                "STOREHOOK_GRACE_DAYS must be 3, 16 or 28, as App Store Connect has it", status: .usage)
        }
        return StatusPolicy(graceDays: days)
    }

    /// One number for every environment served, or one for each of some: `30`, `Production=30,Sandbox=7`.
    private func maximumAges() throws -> [Environment: Duration] {
        var ages: [Environment: Duration] = [:]
        for entry in list("storehook.max.payload.age.days") ?? [] {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let places = parts.count == 1 ? environments() : [Environment(rawValue: String(parts[0]))]
            guard let days = Int64(parts.last ?? ""), (1...36_500).contains(days), places.isSubset(of: environments())
            else {
                throw CommandFailure(
                    "STOREHOOK_MAX_PAYLOAD_AGE_DAYS: write days from 1 to 36500, for all environments served or for each: "
                        + "30, or Production=30,Sandbox=7", status: .usage)
            }
            for place in places { ages[place] = .seconds(days * 86_400) }
        }
        return ages
    }

    private func apps() throws -> [String: Int64?] {
        var apps: [String: Int64?] = [:]
        for entry in list("storehook.apps") ?? [] {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let number = parts.count == 2 ? Int64(parts[1]) : nil
            guard let bundleID = parts.first, !bundleID.isEmpty, parts.count == 1 || number != nil else {
                throw CommandFailure(
                    "STOREHOOK_APPS: write bundle.id=AppAppleID, comma-separated: com.example.app=1234567890",
                    status: .usage)
            }
            apps.updateValue(number, forKey: String(bundleID))
        }
        return apps
    }

    private func environments() -> Set<Environment> {
        Set((list("storehook.environments") ?? ["Production", "Sandbox"]).map(Environment.init(rawValue:)))
    }

    private func trustedRoots() throws -> Set<Fingerprint> {
        guard let texts = list("storehook.trusted.roots") else { return [.appleRootG3] }
        return try Set(
            texts.map { text in
                guard let fingerprint = Fingerprint(text) else {
                    throw CommandFailure(
                        "STOREHOOK_TRUSTED_ROOTS: a fingerprint is 64 hexadecimal digits (SHA-256 of the root's DER)",
                        status: .usage)
                }
                return fingerprint
            })
    }

    /// `STOREHOOK_MAX_ATTEMPTS`.
    func retries() throws -> RetryPolicy {
        RetryPolicy(
            maximumAttempts: try positive("storehook.max.attempts", "STOREHOOK_MAX_ATTEMPTS", default: 12, upTo: 1000))
    }

    /// `STOREHOOK_LISTEN`: whether a worker tries to hear of new rows at once, rather than by polling alone.
    func listens() throws -> Bool {
        switch text("storehook.listen") ?? "auto" {
        case "auto": return true
        case "off": return false
        default: throw CommandFailure("STOREHOOK_LISTEN must be auto or off", status: .usage)
        }
    }

    /// `STOREHOOK_REVOCATION`: whether authorities are asked if they have revoked a certificate.
    func checksRevocation() throws -> Bool {
        switch text("storehook.revocation") ?? "off" {
        case "ocsp": return true
        case "off": return false
        default: throw CommandFailure("STOREHOOK_REVOCATION must be ocsp or off", status: .usage)
        }
    }

    /// `STOREHOOK_LEASE_SECONDS`.
    func lease() throws -> Duration {
        .seconds(try positive("storehook.lease.seconds", "STOREHOOK_LEASE_SECONDS", default: 60, upTo: 86_400))
    }

    /// `STOREHOOK_RETENTION_DAYS`: for how long Apple's bytes are kept; `forever`, or 0, drops none.
    func retention() throws -> Retention {
        let key: ConfigKey = "storehook.retention.days"
        guard let value = text(key) else { return .usual }
        if value == "forever" || value == "0" { return Retention(days: nil) }
        guard let days = Int(value), (Retention.minimumDays...36_500).contains(days) else {
            throw CommandFailure(
                "STOREHOOK_RETENTION_DAYS must be forever or a whole number from \(Retention.minimumDays) to 36500",
                status: .usage)
        }
        return Retention(days: days)
    }

    /// `STOREHOOK_TLS_CERTIFICATE` and `STOREHOOK_TLS_KEY`, read; what is given here instead wins. Nil where there is neither.
    func tls(certificate: String? = nil, key: String? = nil) throws -> TLSIdentity? {
        let certificate = certificate ?? text("storehook.tls.certificate")
        let key = key ?? text("storehook.tls.key")
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

    /// A logger by `STOREHOOK_LOG_LEVEL` and `STOREHOOK_LOG_FORMAT`; it writes to standard error.
    func logger(_ label: String) throws -> Logger {
        let level = text("storehook.log.level") ?? "info"
        guard let level = Logger.Level(rawValue: level) else {
            throw CommandFailure(
                "STOREHOOK_LOG_LEVEL must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))",
                status: .usage)
        }
        let format = text("storehook.log.format") ?? (StandardError.isTerminal ? "text" : "json")
        var logger: Logger
        switch format {
        case "text": logger = Logger(label: label, factory: StreamLogHandler.standardError(label:))
        case "json": logger = Logger(label: label) { JSONLogHandler(label: $0) }
        default: throw CommandFailure("STOREHOOK_LOG_FORMAT must be text or json", status: .usage)
        }
        logger.logLevel = level
        return logger
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
