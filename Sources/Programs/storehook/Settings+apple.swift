import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import AppleSync
import Base
import Configuration

extension Settings {
    /// `STOREHOOK_APPLE_KEYS`; for a single app also `APPLE_ISSUER_ID`, `APPLE_KEY_ID`, `APPLE_PRIVATE_KEY` and
    /// `APPLE_SHARED_SECRET`.
    ///
    /// - Throws: `CommandFailure`, also where none is set.
    func appleKeys() throws -> AppleKeys {
        let file = try text("storehook.apple.keys")
        guard hasAppleKeys else {
            throw CommandFailure(
                "no key for Apple's Server API is set: make one in App Store Connect (Users and Access, Integrations, In-App "
                    + "Purchase) and set STOREHOOK_APPLE_KEYS", status: .usage)
        }
        if file != nil, hasSingleKey {
            throw CommandFailure(
                "set STOREHOOK_APPLE_KEYS or APPLE_ISSUER_ID, APPLE_KEY_ID, APPLE_PRIVATE_KEY and APPLE_SHARED_SECRET, not both; in "
                    + "the file of the former a secret is shared_secret_file", status: .usage)
        }
        let keys: AppleKeys
        do {
            if let file {
                keys = try AppleKeys(file: file)
            } else {
                keys = try singleKey()
            }
        } catch let fault as AppleKeys.Fault {
            throw CommandFailure(fault.description, status: .usage)
        }
        let served = try verifier().apps
        if let stranger = keys.apps.keys.filter({ served[$0] == nil }).min() {
            throw CommandFailure(
                "a key is set for \(stranger), which is not served; add it to STOREHOOK_APPS", status: .usage)
        }
        return keys
    }

    /// Whether any key is set, be it right or wrong, or a shared secret without one.
    var hasAppleKeys: Bool { isSet("storehook.apple.keys") || hasSingleKey }

    private var hasSingleKey: Bool {
        isSet("apple.issuer.id") || isSet("apple.key.id") || isSet("apple.private.key") || isSet("apple.shared.secret")
    }

    /// - Throws: `AppleKeys.Fault`, `CommandFailure`.
    private func singleKey() throws -> AppleKeys {
        let sharedSecret = try text("apple.shared.secret")
        let parts = [try text("apple.issuer.id"), try text("apple.key.id"), try text("apple.private.key")]
        if let sharedSecret, parts == [nil, nil, nil] {
            return try AppleKeys(bundleId: try singleApp(), sharedSecret: sharedSecret)
        }
        guard let issuerId = parts[0], let keyId = parts[1], let privateKey = parts[2] else {
            throw AppleKeys.Fault(
                description: "APPLE_ISSUER_ID, APPLE_KEY_ID and APPLE_PRIVATE_KEY belong together; one is missing")
        }
        return try AppleKeys(
            bundleId: try singleApp(), issuerId: issuerId, keyId: keyId, privateKey: privateKey,
            sharedSecret: sharedSecret)
    }

    private func singleApp() throws -> String {
        guard let bundleId = try bundleID() ?? onlyApp else {
            throw AppleKeys.Fault(
                description:
                    "APPLE_PRIVATE_KEY and APPLE_SHARED_SECRET are one app's: with several in STOREHOOK_APPS, set STOREHOOK_APPLE_KEYS, "
                    + "or name the app in APPLE_BUNDLE_ID"
            )
        }
        return bundleId
    }

    private var onlyApp: String? {
        guard let apps = try? verifier().apps, apps.count == 1 else { return nil }
        return apps.keys.first
    }

    /// `STOREHOOK_APPLE_URL`, where it is set: a stand-in's address.
    func standInURL() throws -> String? { try text("storehook.apple.url") }

    /// `STOREHOOK_APPLE_URL`: the address of Apple's servers; Apple's own by default.
    func appleHosts() throws -> AppStoreHosts {
        guard let url = try standInURL() else { return .apple }
        do {
            return try AppStoreHosts(standIn: url, for: try verifier().environments)
        } catch let fault as AppStoreHosts.Fault {
            throw CommandFailure("STOREHOOK_APPLE_URL: \(fault.rawValue)", status: .usage)
        }
    }

    /// `STOREHOOK_CANARY_MINUTES`: `60`, or `Production=60,Sandbox=1440`; by default there is no canary.
    func canaryIntervals() throws -> [Environment: Duration] {
        try numbers(
            "storehook.canary.minutes", "STOREHOOK_CANARY_MINUTES", in: try verifier().environments, upTo: 10_080,
            unit: "minutes", example: "60, or Production=60,Sandbox=1440"
        ).mapValues { .seconds($0 * 60) }
    }
}
