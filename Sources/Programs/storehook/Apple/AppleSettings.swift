import AppStoreServerAPI
import AppStoreVerification
import AppleSync
import Logging

/// What the settings say about asking Apple.
struct AppleSettings {
    let keys: AppleKeys
    let hosts: AppStoreHosts
    let verifier: VerifierConfiguration
    let checksRevocation: Bool
    let logger: Logger

    /// - Throws: `CommandFailure` naming the setting that is missing or wrong.
    init(_ settings: Settings) throws {
        keys = try settings.appleKeys()
        hosts = try settings.appleHosts()
        verifier = try settings.verifier()
        checksRevocation = try settings.checksRevocation()
        logger = try settings.logger("apple")
    }
}
