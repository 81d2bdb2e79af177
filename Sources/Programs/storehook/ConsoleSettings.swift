import APIKit
import Accounts
import Base
import ConsolePages
import EventStore
import HTTPKit
import Postgres
import Staff
import Subscriptions

/// All that `storehook console` reads of the settings, read before it begins: where this can be made, no setting keeps it from starting.
/// `storehook doctor --role console` makes the same.
struct ConsoleSettings {
    let database: PostgresConfiguration
    /// How long a receiver waits for a commit.
    let storeDeadline: Duration
    let status: StatusPolicy
    let accountIDs: AccountIDRule?
    /// The bundle ids of the apps that members of the staff may have; empty for any app.
    let apps: Set<String>
    /// What each member of the staff may do.
    let rules: StaffRules
    let proxies: TrustedProxies
    let connectionsPerAddress: Int
    /// Of a member of the staff, and of an address.
    let rates: (member: APIConfiguration.Rate, address: APIConfiguration.Rate)
    let tls: TLSIdentity?
    /// By which way people come in at the pages.
    let way: Visitors.Way
    /// What endpoints' secrets are encrypted with; nil where none are made from the console.
    let secretKey: SecretKey?
    /// Why the key that the settings name cannot be used; nil where it can, and where they name none.
    let secretKeyFault: String?
    /// What stands before each path; empty for nothing.
    let path: String

    /// - Parameters:
    ///   - tlsCertificate: overrides the setting.
    ///   - tlsKey: the file of the certificate's key.
    /// - Throws: `CommandFailure` naming the setting that is missing or wrong.
    init(_ settings: Settings, tlsCertificate: String? = nil, tlsKey: String? = nil) throws {
        _ = try settings.logger("console")
        database = try settings.servingDatabase()
        storeDeadline = try settings.receiverDatabase().queryTimeout ?? .seconds(30)
        status = try settings.statusPolicy()
        accountIDs = try settings.accountIDs()
        apps = Set(try settings.apps().keys)
        rules = try settings.staffRules()
        proxies = try settings.trustedProxies()
        connectionsPerAddress = try settings.connectionsPerAddress()
        let limits = try settings.requestRates()
        rates = (limits.account, limits.address)
        tls = try settings.tls(certificate: tlsCertificate, key: tlsKey)
        way = try settings.consoleWay()
        (secretKey, secretKeyFault) = try settings.secretKeyIfUsable()
        path = try settings.consolePath()
    }

    /// Refuses to send tokens and customers' data over a network in the clear.
    /// - Throws: `CommandFailure` where the address is reached from other machines, and nothing speaks TLS.
    func requireTLS(on host: String, isBehindTLS: Bool) throws {
        guard tls == nil, !isBehindTLS, !Self.isLoopback(host) else { return }
        throw CommandFailure(
            "on \(host) the console needs TLS: set STOREHOOK_TLS_CERTIFICATE and STOREHOOK_TLS_KEY, or say --behind-tls where a "
                + "proxy speaks it and nothing else reaches this address", status: .usage)
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host.lowercased() == "localhost" { return true }
        guard let address = NetworkAddress(host) else { return false }
        return ["127.0.0.0/8", "::1"].contains { AddressBlock(around: $0)?.contains(address) == true }
    }
}
