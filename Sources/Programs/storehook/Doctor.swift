import AccountAPI
import AccountStore
import Accounts
import AppStoreVerification
import AppleSync
import ArgumentParser
import Base
import EvidenceStore
import Foundation
import HTTPKit
import Logging
import Operations
import Postgres
import Receiver

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check configuration and surroundings: one line a check, ok or what to do.",
        discussion: """
            Changes nothing, and waits for nothing longer than some seconds. Exits with 1 if anything is to be done. Run it
            with a program's own environment, and name the program's role where it matters.

            --apple follows a test notification from Apple until it is applied here, and says in one sentence which link is
            broken: clock, key, app, environment, apple, url, tls, proxy, receiver, worker, roots or database. It takes the
            time of --wait, and half a minute more where Apple is slow. With --url it also asks what answers there.

            Example: storehook doctor --role receiver --port 8080
            """)

    @OptionGroup var shared: SharedOptions
    @Option(
        help: "What the database user must be allowed to be: receiver, worker, ops, monitor, api, bi or console.",
        transform: DatabaseRole.word)
    var role: DatabaseRole?
    @Option(help: "The receiver's address.") var host = "127.0.0.1"
    @Option(help: "The receiver's port.") var port = 8080
    @Option(help: "For how many seconds a transaction may keep dead rows from being removed.")
    var transactionAge: Double = DatabaseChecks.usualTransactionAge / .seconds(1)
    @Flag(help: "Follow a test notification from Apple until it is applied here.") var apple = false
    @Option(help: "With --apple: for how many seconds at most, 2 to 600.") var wait = 30
    @Option(help: "With --apple: the URL that App Store Connect has for notifications.") var url: String?
    @OptionGroup var output: Output

    func validate() throws {
        try (1...65535).check(port, "--port")
        try (2...600).check(wait, "--wait")
        if let url, !url.hasPrefix("https://"), !url.hasPrefix("http://") {
            throw ValidationError("--url begins with https://")
        }
        guard apple || url == nil else { throw ValidationError("--url goes with --apple") }
        guard transactionAge >= 0 else { throw ValidationError("--transaction-age must not be negative") }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let tokens = await tokenFinding(settings)
        var findings = configurationChecks(settings, await catalogPolicy(settings), tokens).findings()
        findings += await databaseFindings(settings)
        findings.append(await revocationFinding(settings))
        findings += try await appleFindings(settings)
        findings.append(tokens)
        findings.append(await PortCheck(host: host, port: port).finding())
        output.print(CommandAnswer(findings))
        if findings.contains(where: { $0.status == .failed }) { throw ExitStatus.failed }
    }

    /// Every setting is read, as the programs would.
    private func configurationChecks(
        _ settings: Settings, _ refunds: ConsumptionPolicy?, _ tokens: Finding
    ) -> ConfigurationChecks {
        let certificate = Self.certificate(settings)
        var faults = Self.faults(settings, role)
        // Those that have a finding of their own.
        faults.removeAll { $0 == tokens.answer.message }
        if case .unusable(let why) = certificate { faults.removeAll { $0 == why } }
        return ConfigurationChecks(
            faults: faults, trust: try? settings.verifier(), certificate: certificate,
            proxies: (try? settings.trustedProxies())?.description,
            policy: Self.policy(settings, refunds), unknown: settings.unknown.map(\.description),
            sandbox: Self.sandbox(settings), role: role)
    }

    /// What cannot be read, a line each, and what keeps a role's program from starting.
    static func faults(_ settings: Settings, _ role: DatabaseRole?) -> [String] {
        let readings: [() throws -> Void] = [
            { _ = try settings.database() }, { _ = try settings.verifier() }, { _ = try settings.retries() },
            { _ = try settings.lease() }, { _ = try settings.retention() }, { _ = try settings.statusPolicy() },
            { _ = try settings.logger("doctor") }, { _ = try settings.checksRevocation() },
            { _ = try settings.listens() }, { _ = try settings.appleHosts() },
            { _ = try settings.canaryIntervals() },
            { _ = try settings.trustedProxies() }, { _ = try settings.connectionsPerAddress() },
            { _ = try settings.junkLimits() }, { _ = try settings.accountIDs() }, { _ = try settings.secretKey() },
            { _ = try settings.endpointPolicy() }, { _ = try settings.endpointRoots() },
            { _ = try settings.consumptionPolicy() }, { if settings.hasAppleKeys { _ = try settings.appleKeys() } },
            { _ = try settings.restoreRule() }, { _ = try settings.sandboxAccess() },
            { _ = try settings.guardOutage() }, { _ = try settings.corsPolicy() }, { _ = try settings.requestRates() },
            { if settings.hasTokenKeys { _ = (try settings.tokenRules(), try settings.tokenKeys()) } },
            { _ = try settings.tls() }, { _ = try settings.staffRules() },
            { _ = (try settings.consoleWay(), try settings.consolePath()) },
            { try settings.refuseSkippedVerification() },
            { try starting(role, settings) },
        ]
        return readings.compactMap(fault).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Reads all that a role's program reads before it starts, by the program's own code.
    private static func starting(_ role: DatabaseRole?, _ settings: Settings) throws {
        switch role {
        case .api: _ = try ServeSettings(settings)
        case .worker: _ = try WorkSettings(settings)
        case .receiver: _ = try ReceiveSettings(settings)
        case .console: _ = try ConsoleSettings(settings)
        case .ops, .monitor, .bi, nil: break
        }
    }

    /// Whether the account API can check tokens. Other programs do not.
    private func tokenFinding(_ settings: Settings) async -> Finding {
        let name = "app tokens"
        guard settings.hasTokenKeys || role == .api else {
            return .skipped(
                name, "nothing is set to check them with, so storehook serve does not start; see STOREHOOK_JWT_KEYS")
        }
        var source: TokenKeySource?
        do {
            let rules = try settings.tokenRules()
            let keySource = try settings.tokenKeys()
            source = keySource
            var quiet = Logger(label: "doctor")
            quiet.logLevel = .critical
            let keys = try await TokenKeys(keySource, logger: quiet).read()
            return .ok(
                name,
                "\(keys) \(keys == 1 ? "key" : "keys"), for tokens of \(rules.issuer) to \(rules.audience)")
        } catch let fault as TokenKeySet.Fault {
            // Since when, a running program knows. Here the time of the file says it.
            let since = source?.path.flatMap { PlainFile.Stamp(of: $0) }.map {
                "; it has stood so since \(Timestamp(secondsSince1970: $0.writtenAt))"
            }
            return .failed(
                name,
                "\(settings.tokenKeysVariable): what it names \(fault)\(since ?? ""); a running storehook serve "
                    + (fault == .empty ? "refuses every token" : "goes on with the keys that it had before"))
        } catch {
            return .failed(name, (error as? CommandFailure)?.message ?? "\(error)")
        }
    }

    /// Why something cannot be read; nil if it can.
    private static func fault(_ reading: () throws -> Void) -> String? {
        do {
            try reading()
            return nil
        } catch {
            return (error as? CommandFailure)?.message ?? "\(error)"
        }
    }

    /// The refund policy of the current catalog; nil where it has none or cannot be read.
    private func catalogPolicy(_ settings: Settings) async -> ConsumptionPolicy? {
        guard let pool = try? pool(settings).pool else { return nil }
        let catalog = try? await AccountStore(pool).current()?.catalog
        await pool.close()
        return catalog?.refunds
    }

    private static func sandbox(_ settings: Settings) -> ConfigurationChecks.SandboxPolicy {
        switch try? settings.sandboxAccess() {
        case .all: .all
        case .testers(let testers): .testers(testers.count)
        case nil: .unusable
        }
    }

    private static func policy(
        _ settings: Settings, _ refunds: ConsumptionPolicy?
    ) -> ConfigurationChecks.Policy {
        do {
            let own = try settings.consumptionPolicy()
            guard let policy = refunds ?? own else { return .none }
            let keys = settings.hasAppleKeys ? Set(try settings.appleKeys().apps.keys) : []
            let apps = try settings.verifier().apps.keys.filter { policy.answers(for: $0) && !keys.contains($0) }
            return .usable(
                rules: policy.rules.count, withoutKey: apps.sorted(), overrules: own != nil && refunds != nil)
        } catch {
            return .unusable
        }
    }

    private static func certificate(_ settings: Settings) -> ConfigurationChecks.Certificate {
        do {
            guard let identity = try settings.tls() else { return .none }
            return .usable(file: identity.certificateFile, expires: identity.expires)
        } catch {
            return .unusable((error as? CommandFailure)?.message ?? "\(error)")
        }
    }

    private func databaseFindings(_ settings: Settings) async -> [Finding] {
        do {
            let (pool, configuration) = try pool(settings)
            let checks = DatabaseChecks(
                pool: pool, migrator: try Database.migrator(), configuration: configuration,
                storeDeadline: try settings.receiverDatabase().queryTimeout ?? .seconds(30), role: role,
                accountIDs: try settings.accountIDs(),
                apps: Set((try? settings.verifier().apps.keys).map(Array.init) ?? []),
                transactionAge: .seconds(transactionAge))
            let findings = await checks.findings()
            await pool.close()
            return findings
        } catch {
            // The `configuration` finding gives the reason.
            return DatabaseChecks.names.map { .skipped($0, "there is no usable DATABASE_URL") }
        }
    }

    func pool(_ settings: Settings) throws -> (pool: PostgresPool, configuration: PostgresConfiguration) {
        var configuration = try settings.database()
        configuration.queryTimeout = DatabaseChecks.queryTimeout
        configuration.cancelGracePeriod = .seconds(1)
        // What the pool would log is what the findings say.
        var logger = Logger(label: "doctor")
        logger.logLevel = .critical
        return (PostgresPool(configuration: configuration, size: 1, logger: logger), configuration)
    }

    private func revocationFinding(_ settings: Settings) async -> Finding {
        guard (try? settings.checksRevocation()) == true else { return RevocationCheck.off }
        var headers: [[UInt8]] = []
        if let pool = try? pool(settings).pool {
            headers = (try? await Outbox(pool).newestHeaders(4)) ?? []
            await pool.close()
        }
        let requester = OCSPRequester()
        let check = RevocationCheck(
            headers: headers, roots: (try? settings.verifier().trustedRoots.all) ?? [], now: WallClock.now(),
            ask: requester.ask, reaches: requester.reaches)
        let finding = await check.finding()
        await requester.shutdown()
        return finding
    }
}
