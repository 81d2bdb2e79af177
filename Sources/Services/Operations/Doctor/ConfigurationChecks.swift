import AppStorePayloads
package import AppStoreVerification
import Base
import EvidenceStore
package import Foundation
package import Postgres

/// The checks that need the settings alone.
package struct ConfigurationChecks: Sendable {
    /// The receiver's own certificate.
    package enum Certificate: Sendable {
        /// It has none: TLS is a proxy's business.
        case none
        /// It can be used.
        case usable(file: String, expires: Date)
        /// It cannot, for this reason.
        case unusable(String)
    }

    /// What the operator has decided about requests for consumption data.
    package enum Policy: Sendable {
        /// Nothing.
        case none
        /// - `rules`: how many rules there are.
        /// - `withoutKey`: the apps that they cover and that have no key.
        /// - `overrules`: the rules are the catalog's, and override a policy file that is also set.
        case usable(rules: Int, withoutKey: [String], overrules: Bool = false)
        /// The policy or the keys cannot be used; the `configuration` finding gives the reason.
        case unusable
    }

    /// Whose purchases in Sandbox open something.
    package enum SandboxPolicy: Sendable {
        /// Everybody's.
        case all
        /// Those of so many accounts.
        case testers(Int)
        /// It is among the faults.
        case unusable
    }

    private let faults: [String]
    /// What is set and is no setting, a text each.
    private let unknown: [String]
    private let sandbox: SandboxPolicy
    private let trust: VerifierConfiguration?
    private let certificate: Certificate
    private let proxies: String?
    private let policy: Policy
    private let role: DatabaseRole?

    /// Checks settings that the caller has read.
    /// - Parameters:
    ///   - faults: settings that cannot be read, a line each.
    ///   - trust: what workers trust and serve; nil where that is among the faults.
    ///   - proxies: the proxies that the receiver trusts to name the sender; nil where that is among the faults.
    ///   - policy: what is decided about requests for consumption data.
    ///   - unknown: what is set and is no setting, a text each.
    ///   - sandbox: whose purchases in Sandbox open something.
    ///   - role: what the settings are for.
    package init(
        faults: [String], trust: VerifierConfiguration?, certificate: Certificate, proxies: String?,
        policy: Policy = .none, unknown: [String] = [], sandbox: SandboxPolicy = .testers(0),
        role: DatabaseRole?
    ) {
        self.unknown = unknown
        self.sandbox = sandbox
        self.faults = faults
        self.trust = trust
        self.certificate = certificate
        self.proxies = proxies
        self.policy = policy
        self.role = role
    }

    /// A finding a check.
    package func findings() -> [Finding] {
        [
            Finding("configuration", configuration()), Finding("setting names", names()), Finding("apps", apps()),
            Finding("roots", roots()),
            Finding("certificate", ownCertificate()), Finding("proxies", trustedProxies()),
            Finding("consumption policy", consumptionPolicy()), Finding("sandbox", sandboxPolicy()),
        ]
    }

    private func consumptionPolicy() -> Finding.Answer {
        switch policy {
        case .none:
            return .skipped(
                "none is set, so Apple's requests for consumption data are not answered; see the chapter Refund requests"
            )
        case .unusable: return .skipped("see configuration")
        case .usable where role == .receiver || role == .monitor || role == .api || role == .console:
            return .skipped("a \(role?.rawValue ?? "") needs none")
        case .usable(let rules, let without, let overrules):
            var faults: [String] = []
            if overrules {
                faults.append(
                    "STOREHOOK_CONSUMPTION_POLICY is set, and the current catalog has refunds, which count alone: unset it, or take "
                        + "refunds out of the catalog")
            }
            if !without.isEmpty {
                faults.append(
                    "it is set, and no key for \(without.joined(separator: ", ")), so nothing can be sent to Apple: set "
                        + "STOREHOOK_APPLE_KEYS")
            }
            guard faults.isEmpty else { return .failed(faults.joined(separator: "; ")) }
            return .ok("\(rules) \(rules == 1 ? "rule" : "rules"), and a key for each app that it answers for")
        }
    }

    private func names() -> Finding.Answer {
        guard !unknown.isEmpty else { return .ok("every name that is set is a setting's") }
        let more = unknown.count > Self.mostNamed ? "; and \(unknown.count - Self.mostNamed) more" : ""
        return .failed(
            "\(unknown.prefix(Self.mostNamed).joined(separator: "; "))\(more): see the chapter Configuration, or unset it"
        )
    }

    /// How many names are listed.
    private static let mostNamed = 5

    /// App Review buys in Sandbox, with the build that is released if it passes, from the servers of that build.
    private func sandboxPolicy() -> Finding.Answer {
        if role == .receiver || role == .monitor { return .skipped("a \(role?.rawValue ?? "") opens nothing") }
        guard let trust else { return .skipped("see configuration") }
        let review = "App Review, which buys in Sandbox with the build that is to be released,"
        guard trust.environments.contains(.sandbox) else {
            return .skipped(
                "Sandbox is not among STOREHOOK_ENVIRONMENTS: what is bought there is refused, and \(review) cannot buy"
            )
        }
        switch sandbox {
        case .unusable: return .skipped("see configuration")
        case .all:
            return .ok(
                "purchases in Sandbox open what was bought for every account (STOREHOOK_SANDBOX_ACCESS=all): \(review) gets in, and so does "
                    + "every person with a Sandbox account of yours or TestFlight")
        case .testers(0):
            return .skipped(
                "purchases in Sandbox open nothing, for STOREHOOK_TESTERS names no account: \(review) gets nothing for its purchases either; "
                    + "name the demo account that it signs in with in STOREHOOK_TESTERS, or set STOREHOOK_SANDBOX_ACCESS=all"
            )
        case .testers(let count):
            return .ok(
                "purchases in Sandbox open something for the \(count == 1 ? "account" : "\(count) accounts") of STOREHOOK_TESTERS alone: "
                    + "\(review) gets in where it signs in with such an account, and else with STOREHOOK_SANDBOX_ACCESS=all"
            )
        }
    }

    private func configuration() -> Finding.Answer {
        faults.isEmpty
            ? .ok("every setting can be read")
            : .failed(faults.joined(separator: "; "))
    }

    private func apps() -> Finding.Answer {
        guard let trust else { return .skipped("see configuration") }
        guard !trust.apps.isEmpty else {
            if role == .receiver || role == .monitor { return .skipped("a \(role?.rawValue ?? "") needs none") }
            return .failed(
                "STOREHOOK_APPS names none, so workers do not start; set STOREHOOK_APPS=bundle.id=AppAppleID,..., or for one app "
                    + "APPLE_BUNDLE_ID and APPLE_APP_ID")
        }
        let names = trust.apps.keys.sorted()
        let without = names.filter { (trust.apps[$0] ?? nil) == nil }
        if trust.environments.contains(.production), !without.isEmpty {
            return .failed(
                "no App Apple ID for \(without.joined(separator: ", ")): Production refuses what is sent for it; "
                    + "write bundle.id=AppAppleID in STOREHOOK_APPS, or for one app set APPLE_APP_ID")
        }
        let environments = trust.environments.map(\.rawValue).sorted().joined(separator: ", ")
        return .ok("\(names.joined(separator: ", ")) in \(environments)")
    }

    private func trustedProxies() -> Finding.Answer {
        guard let proxies else { return .skipped("see configuration") }
        return .ok(
            proxies == "none"
                ? "none: the address that connects to the receiver is taken for the sender"
                : "\(proxies): what their X-Forwarded-For names is taken for the sender")
    }

    private func ownCertificate() -> Finding.Answer {
        switch certificate {
        case .none: return .skipped("TLS is a proxy's business here")
        case .unusable(let why): return .failed(why)
        case .usable(let file, let expires):
            let until = expires.formatted(.iso8601)
            guard expires > Date(timeIntervalSinceNow: Self.renewalTime / .seconds(1)) else {
                return .failed("\(file) is valid until \(until): renew it, then send SIGHUP to the receiver")
            }
            return .ok("\(file) is valid until \(until)")
        }
    }

    /// Certificates of 90 days are renewed with 30 days left; with 14 left, the operator should look.
    private static let renewalTime = Duration.seconds(14 * 86_400)

    private func roots() -> Finding.Answer {
        guard let trust else { return .skipped("see configuration") }
        // Only these two: Xcode and local tests sign on the developer's machine, with a root of their own.
        let purchases = trust.environments.intersection([.production, .sandbox]).map(\.rawValue).sorted()
            .map(Environment.init(rawValue:))
        guard !purchases.isEmpty else {
            return .ok("\(trust.trustedRoots.all.count), none of them for purchases")
        }
        if let without = purchases.first(where: { !trust.trustedRoots.trusts(.appleRootG3, for: $0) }) {
            return .failed(
                "STOREHOOK_TRUSTED_ROOTS leaves out Apple Root CA - G3, so nothing that Apple signs for \(without) is trusted; "
                    + "unset it, or add \(Fingerprint.appleRootG3)")
        }
        let unknown = purchases.reduce(into: Set<Fingerprint>()) {
            $0.formUnion(trust.trustedRoots.byEnvironment[$1, default: []])
        }.subtracting([.appleRootG3]).map(\.description).sorted()
        guard unknown.isEmpty else {
            return .failed(
                "trusts \(unknown.joined(separator: ", ")), which is not Apple's: who holds its key can make any "
                    + "notification; take it out of STOREHOOK_TRUSTED_ROOTS unless this is a test")
        }
        return .ok("Apple Root CA - G3")
    }
}
