import HTTPKit
import Postgres

/// All that `storehook receive` reads of the settings, read before it begins: where this can be made, no setting keeps it from
/// starting. `storehook doctor --role receiver` makes the same.
struct ReceiveSettings {
    let database: PostgresConfiguration
    let proxies: TrustedProxies
    let connectionsPerAddress: Int
    let tls: TLSIdentity?

    /// - Parameters:
    ///   - tlsCertificate: overrides the setting.
    ///   - tlsKey: likewise.
    /// - Throws: `CommandFailure` naming the setting that is missing or wrong.
    init(_ settings: Settings, tlsCertificate: String? = nil, tlsKey: String? = nil) throws {
        _ = try settings.logger("receiver")
        database = try settings.receiverDatabase()
        proxies = try settings.trustedProxies()
        connectionsPerAddress = try settings.connectionsPerAddress()
        tls = try settings.tls(certificate: tlsCertificate, key: tlsKey)
    }
}
