/// All that `storehook receive` reads of the settings, read before it begins. `storehook doctor --role receiver` reads the same.
enum ReceiveSettings {
    /// - Throws: `CommandFailure` naming the setting that is missing or wrong.
    static func check(_ settings: Settings, tlsCertificate: String? = nil, tlsKey: String? = nil) throws {
        _ = (try settings.logger("receiver"), try settings.receiverDatabase())
        _ = (try settings.trustedProxies(), try settings.connectionsPerAddress())
        _ = try settings.tls(certificate: tlsCertificate, key: tlsKey)
    }
}
