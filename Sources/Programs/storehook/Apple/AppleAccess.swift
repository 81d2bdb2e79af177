import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import AppleSync
import Base
import Pipeline
import Postgres

/// Clients of Apple's for a command: what the settings say, over HTTP.
struct AppleAccess {
    let keys: AppleKeys
    private let hosts: AppStoreHosts
    private let verifier: Verifier
    private let environments: Set<Environment>
    private let transport: HTTPTransport
    private let policy: CallPolicy
    private let settle: (@Sendable () async -> Void)?
    /// The requester that this value closes; nil where its creator closes it.
    private let requester: OCSPRequester?

    /// - Parameter revocation: what the program knows of revoked certificates, where it has to do with them elsewhere, too.
    /// - Throws: `CommandFailure` naming the setting that is missing or wrong.
    init(
        _ settings: Settings, policy: CallPolicy = CallPolicy(), limits: HTTPTransport.Limits = HTTPTransport.Limits(),
        revocation: Revocation? = nil
    ) throws {
        self.init(try AppleSettings(settings), policy: policy, limits: limits, revocation: revocation)
    }

    /// By settings that are read.
    init(
        _ settings: AppleSettings, policy: CallPolicy = CallPolicy(),
        limits: HTTPTransport.Limits = HTTPTransport.Limits(),
        revocation: Revocation? = nil
    ) {
        keys = settings.keys
        hosts = settings.hosts
        environments = settings.verifier.environments
        self.policy = policy
        transport = HTTPTransport(limits: limits)
        var revocation = revocation
        var requester: OCSPRequester?
        if revocation == nil, settings.checksRevocation {
            let made = OCSPRequester()
            revocation = Revocation(made, logger: settings.logger)
            requester = made
        }
        self.requester = requester
        verifier = Verifier(configuration: settings.verifier, revocation: revocation?.cache, clock: WallClock.now)
        if let checker = revocation?.checker {
            settle = { _ = await checker.sendPendingRequests() }
        } else {
            settle = nil
        }
    }

    /// A client for an app; nil where there is only a shared secret.
    func client(
        _ app: AppleKeys.App, budget: RateBudget = RateBudget(), observer: ClientObserver = ClientObserver()
    ) -> AppStoreClient? {
        guard let credentials = app.credentials else { return nil }
        return AppStoreClient(
            credentials, hosts: hosts, transport: transport, clock: MachineClock(), verifier: verifier,
            budget: budget, policy: policy, observer: observer, settleRevocation: settle)
    }

    /// Clients for all apps that keys are set for, which share one budget.
    func clients(
        budget: RateBudget = RateBudget(), observer: ClientObserver = ClientObserver()
    ) -> AppleClients {
        AppleClients(
            keys.apps.values.compactMap { client($0, budget: budget, observer: observer) },
            in: environments, sharing: budget)
    }

    /// Takes old receipts of all apps that anything is set for.
    func receipts(
        _ pool: PostgresPool, budget: RateBudget = RateBudget(), observer: ClientObserver = ClientObserver()
    ) -> ReceiptIntake {
        ReceiptIntake(
            verifier,
            apps: keys.apps.values.map { app in
                ReceiptIntake.App(
                    app.bundleId, server: client(app, budget: budget, observer: observer),
                    receipts: app.sharedSecret.map { secret in
                        ReceiptClient(
                            bundleId: app.bundleId, secret: secret, in: environments, hosts: hosts,
                            transport: transport, clock: MachineClock(), budget: budget, policy: policy,
                            observer: observer)
                    })
            }, history: History(pool), settleRevocation: settle)
    }

    /// Closes all connections.
    func shutdown() async {
        await transport.shutdown()
        await requester?.shutdown()
    }

    /// The named app; without a name, the only one.
    func app(_ name: String?) throws -> AppleKeys.App {
        if let name {
            guard let app = keys.apps[name] else {
                throw CommandFailure("no key is set for \(name); see STOREHOOK_APPLE_KEYS", status: .usage)
            }
            return app
        }
        guard keys.apps.count == 1, let app = keys.apps.values.first else {
            throw CommandFailure(
                "keys of several apps are set; say which with --app: \(keys.apps.keys.sorted().joined(separator: ", "))",
                status: .usage)
        }
        return app
    }

    /// Runs `body` with a client of the named or only app, and the environment to ask; nil to ask both.
    static func with<T>(
        _ settings: Settings, app name: String?, in environment: Environment?,
        _ body: (AppStoreClient, Environment?) async throws -> T
    ) async throws -> T {
        let served = try settings.verifier().environments.intersection([.production, .sandbox])
        if let environment, !served.contains(environment) {
            throw CommandFailure(
                "\(environment) is not among STOREHOOK_ENVIRONMENTS; add it there, or name another --environment",
                status: .usage)
        }
        let access = try AppleAccess(settings)
        do {
            let app = try access.app(name)
            guard let client = access.client(app) else {
                throw CommandFailure(
                    "for \(app.bundleId) a shared secret alone is set, with which only receipts can be asked about; make a key in "
                        + "App Store Connect (Users and Access, Integrations, In-App Purchase)", status: .usage)
            }
            let answer = try await body(client, environment ?? served.only)
            await access.shutdown()
            return answer
        } catch {
            await access.shutdown()
            throw told(error)
        }
    }

    /// The error that a command shows for a failure with Apple.
    static func told(_ error: any Error) -> any Error {
        if let failure = error as? AppStoreFailure { return CommandFailure("\(failure)") }
        if let trouble = error as? UnusableAnswer { return CommandFailure("\(trouble.rawValue): \(trouble)") }
        return error
    }
}

extension Set {
    /// The element of a set that has one.
    fileprivate var only: Element? { count == 1 ? first : nil }
}
