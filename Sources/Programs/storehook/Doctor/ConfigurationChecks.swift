import AppStorePayloads
import AppStoreVerification
import Foundation
import Outbox
import Receiver

/// What can be told from the settings alone.
struct ConfigurationChecks {
    let settings: Settings
    let role: DatabaseRole?

    func findings() -> [Finding] { [configuration(), apps(), roots(), certificate()] }

    /// Every setting is read, as the programs would.
    private func configuration() -> Finding {
        let readings: [() throws -> Void] = [
            { _ = try settings.database() }, { _ = try settings.verifier() }, { _ = try settings.retries() },
            { _ = try settings.lease() }, { _ = try settings.retention() },
            { _ = try settings.logger("doctor") },
        ]
        let faults = readings.compactMap { reading -> String? in
            do {
                try reading()
                return nil
            } catch {
                return (error as? CommandFailure)?.message ?? "\(error)"
            }
        }
        return faults.isEmpty
            ? .ok("configuration", "every setting can be read")
            : .failed("configuration", faults.joined(separator: "; "))
    }

    private func apps() -> Finding {
        guard let trust = try? settings.verifier() else { return .skipped("apps", "see configuration") }
        guard !trust.apps.isEmpty else {
            if role == .receiver || role == .monitor { return .skipped("apps", "a \(role?.rawValue ?? "") needs none") }
            return .failed(
                "apps",
                "STOREHOOK_APPS names none, so workers do not start; set STOREHOOK_APPS=bundle.id=AppAppleID,...")
        }
        let names = trust.apps.keys.sorted()
        let without = names.filter { (trust.apps[$0] ?? nil) == nil }
        if trust.environments.contains(.production), !without.isEmpty {
            return .failed(
                "apps",
                "no App Apple ID for \(without.joined(separator: ", ")): Production refuses what is sent for it; "
                    + "write bundle.id=AppAppleID in STOREHOOK_APPS")
        }
        let environments = trust.environments.map(\.rawValue).sorted().joined(separator: ", ")
        return .ok("apps", "\(names.joined(separator: ", ")) in \(environments)")
    }

    /// The receiver's own certificate, where it has one.
    private func certificate() -> Finding {
        do {
            guard let identity = try settings.tls() else {
                return .skipped("certificate", "TLS is a proxy's business here")
            }
            let until = identity.expires.formatted(.iso8601)
            guard identity.expires > Date(timeIntervalSinceNow: Self.renewalTime) else {
                return .failed(
                    "certificate",
                    "\(identity.certificateFile) is valid until \(until): renew it, then send SIGHUP to the receiver")
            }
            return .ok("certificate", "\(identity.certificateFile) is valid until \(until)")
        } catch {
            return .failed("certificate", (error as? CommandFailure)?.message ?? "\(error)")
        }
    }

    /// Certificates of 90 days are renewed with 30 days left; with 14 left, somebody should look, in seconds.
    private static let renewalTime = 14.0 * 86_400

    private func roots() -> Finding {
        guard let trust = try? settings.verifier() else { return .skipped("roots", "see configuration") }
        // Xcode signs with a certificate of the developer's own.
        let isAppleNeeded = !trust.environments.subtracting([.xcode]).isEmpty
        guard isAppleNeeded else { return .ok("roots", "\(trust.trustedRoots.count), for Xcode alone") }
        guard trust.trustedRoots.contains(.appleRootG3) else {
            return .failed(
                "roots",
                "STOREHOOK_TRUSTED_ROOTS leaves out Apple Root CA - G3, so nothing that Apple signs is trusted; "
                    + "unset it, or add \(Fingerprint.appleRootG3)")
        }
        let unknown = trust.trustedRoots.subtracting([.appleRootG3]).map(\.description).sorted()
        guard unknown.isEmpty else {
            return .failed(
                "roots",
                "trusts \(unknown.joined(separator: ", ")), which is not Apple's: who holds its key can make any "
                    + "notification; take it out of STOREHOOK_TRUSTED_ROOTS unless this is a test")
        }
        return .ok("roots", "Apple Root CA - G3")
    }
}
