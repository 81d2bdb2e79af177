import Accounts
import AppStorePayloads
import AppStoreVerification
import Base
import EventStore
import EvidenceStore
import NIOSSL
import Postgres
import Subscriptions

/// All that `storehook work` reads of the settings, read before it begins: where this can be made, no setting keeps it from starting.
/// `storehook doctor --role worker` makes the same.
struct WorkSettings {
    let secretKey: SecretKey?
    let endpointPolicy: AddressPolicy
    let endpointRoots: [NIOSSLCertificate]
    let verifier: VerifierConfiguration
    let database: PostgresConfiguration
    let accountIDs: AccountIDRule?
    let listens: Bool
    let lease: Duration
    let retries: ClaimPolicy
    let junk: JunkLimits
    let status: StatusPolicy
    let retention: Retention
    let checksRevocation: Bool
    let consumption: ConsumptionPolicy?
    /// Nil where Apple is not asked.
    let apple: AppleSettings?
    /// Between two canaries, for the environments that have any.
    let canaryIntervals: [Environment: Duration]

    /// - Throws: `CommandFailure` naming the setting that is missing or wrong.
    init(_ settings: Settings) throws {
        try settings.refuseSkippedVerification()
        _ = try settings.logger("worker")
        secretKey = try settings.secretKey()
        endpointPolicy = try settings.endpointPolicy()
        endpointRoots = try settings.endpointRoots()
        verifier = try settings.verifier()
        database = try settings.writableDatabase()
        accountIDs = try settings.accountIDs()
        listens = try settings.listens()
        lease = try settings.lease()
        retries = try settings.retries()
        junk = try settings.junkLimits()
        status = try settings.statusPolicy()
        retention = try settings.retention()
        checksRevocation = try settings.checksRevocation()
        consumption = try settings.consumptionPolicy()
        apple = try settings.hasAppleKeys ? AppleSettings(settings) : nil
        canaryIntervals = try apple == nil ? [:] : settings.canaryIntervals()
    }
}
