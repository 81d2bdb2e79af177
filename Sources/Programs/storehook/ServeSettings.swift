import APIKit
import AccountAPI
import AccountStore
import Accounts
import AppStoreVerification
import Base
import HTTPKit
import Postgres
import Subscriptions

/// All that `storehook serve` reads of the settings, read before it begins: where this can be made, no setting keeps it from starting.
/// `storehook doctor --role api` makes the same.
struct ServeSettings {
    let database: PostgresConfiguration
    let verifier: VerifierConfiguration
    let status: StatusPolicy
    let checksRevocation: Bool
    /// Nil where Apple is not asked.
    let apple: AppleSettings?
    let listens: Bool
    let accountIDs: AccountIDRule?
    let restore: RestoreRule
    let sandbox: SandboxAccess
    let guardOutage: Guard.Outage
    let cors: CORSPolicy
    let rates: (account: APIConfiguration.Rate, address: APIConfiguration.Rate)
    let proxies: TrustedProxies
    let connectionsPerAddress: Int
    let tokenRules: TokenRules
    let tokenKeys: TokenKeySource
    /// The variable that names them.
    let tokenKeysVariable: String
    let tls: TLSIdentity?

    /// - Parameters:
    ///   - tlsCertificate: overrides the setting.
    ///   - tlsKey: likewise.
    /// - Throws: `CommandFailure` naming the setting that is missing or wrong.
    init(_ settings: Settings, tlsCertificate: String? = nil, tlsKey: String? = nil) throws {
        try settings.refuseSkippedVerification()
        _ = try settings.logger("serve")
        database = try settings.servingDatabase()
        verifier = try settings.verifier()
        status = try settings.statusPolicy()
        checksRevocation = try settings.checksRevocation()
        apple = try settings.hasAppleKeys ? AppleSettings(settings) : nil
        listens = try settings.listens()
        accountIDs = try settings.accountIDs()
        restore = try settings.restoreRule()
        sandbox = try settings.sandboxAccess()
        guardOutage = try settings.guardOutage()
        cors = try settings.corsPolicy()
        rates = try settings.requestRates()
        proxies = try settings.trustedProxies()
        connectionsPerAddress = try settings.connectionsPerAddress()
        tokenRules = try settings.tokenRules()
        tokenKeys = try settings.tokenKeys()
        tokenKeysVariable = settings.tokenKeysVariable
        tls = try settings.tls(certificate: tlsCertificate, key: tlsKey)
    }

    /// Each app in each environment that is served.
    var served: Set<AppEnvironment> {
        Set(
            verifier.environments.flatMap { environment in
                verifier.apps.keys.map { AppEnvironment(bundleID: $0, environment: environment.rawValue) }
            })
    }
}
