import AppStorePayloads
package import Base

extension Verifier {
    /// The app and environment that a payload claims.
    struct Claims {
        var bundleId: String
        var environment: Environment
        var appAppleId: Int64?
    }

    /// Finds the claims where the kind of notification has them.
    ///
    /// - Throws: `malformed_payload` for a notification about nothing, `wrong_bundle` or `wrong_environment` for a claim that is missing.
    func claims(of part: NotificationPayload.Part) throws(VerificationFailure) -> Claims {
        switch part {
        case .data(let data):
            return try claims(data.bundleId, data.environment, data.appAppleId)
        case .summary(let summary):
            return try claims(summary.bundleId, summary.environment, summary.appAppleId)
        case .appData(let data):
            return try claims(data.bundleId, data.environment, data.appAppleId)
        case .externalPurchaseToken(let token):
            guard let name = token.externalPurchaseId else {
                throw VerificationFailure(.malformedPayload, "externalPurchaseId is missing or not a text.")
            }
            // The only kind without a field for it; Apple documents the prefix instead.
            return try claims(token.bundleId, name.hasPrefix("SANDBOX") ? .sandbox : .production, token.appAppleId)
        case .none:
            throw VerificationFailure(
                .malformedPayload, "The payload has none of data, summary, externalPurchaseToken and appData.")
        }
    }

    private func claims(
        _ bundleId: String?, _ environment: Environment?, _ appAppleId: Int64?
    ) throws(VerificationFailure) -> Claims {
        let bundleId = try require(bundleId: bundleId)
        return Claims(bundleId: bundleId, environment: try require(environment: environment), appAppleId: appAppleId)
    }

    /// Requires that an app is served, for a caller that knows from elsewhere which app a renewal info is about.
    /// - Throws: `wrong_bundle` if not.
    public func requireServed(bundleId: String) throws(VerificationFailure) { try require(bundleId: bundleId) }

    @discardableResult
    func require(bundleId: String?) throws(VerificationFailure) -> String {
        guard let bundleId else { throw VerificationFailure(.wrongBundle, "bundleId is missing.") }
        guard configuration.apps.keys.contains(bundleId) else {
            throw VerificationFailure(
                .wrongBundle,
                "bundleId \(Self.shown(bundleId: bundleId)) is none of the apps served; if it should be, add it to STOREHOOK_APPS."
            )
        }
        return bundleId
    }

    /// A bundle id for a line. The signer may have written anything: characters that no bundle id has are escaped, and a long one is shortened.
    static func shown(bundleId: String) -> String {
        let scalars = bundleId.unicodeScalars
        func isPlain(_ scalar: Unicode.Scalar) -> Bool {
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-._".unicodeScalars.contains(scalar))
        }
        guard !scalars.isEmpty, scalars.count <= 155, scalars.allSatisfy(isPlain) else {
            let written = scalars.prefix(40).map {
                isPlain($0) ? String($0) : "\\u{\(String($0.value, radix: 16, uppercase: true))}"
            }
            .joined()
            return "\"\(written)\(scalars.count > 40 ? "…" : "")\""
        }
        return bundleId
    }

    @discardableResult
    package func require(environment: Environment?) throws(VerificationFailure) -> Environment {
        guard let environment, configuration.environments.contains(environment) else {
            let name = environment.map { $0.isKnown ? "\($0)" : "one unknown here" } ?? "missing"
            throw VerificationFailure(
                .wrongEnvironment,
                "The environment is \(name) and not among those served; if it should be, add it to STOREHOOK_ENVIRONMENTS."
            )
        }
        return environment
    }

    /// Requires that the chain's root, which is trusted already, may sign for the environment.
    func require(_ chain: CertificateChain, for environment: Environment) throws(VerificationFailure) {
        guard configuration.trustedRoots.trusts(chain.rootFingerprint, for: environment) else {
            throw VerificationFailure(
                .untrustedRoot,
                "The chain's root (SHA-256 \(chain.rootFingerprint)) is trusted, but not for \(environment).")
        }
    }

    /// Checks claims against the configuration. Apple sends an App Apple ID for Production only, and only
    /// there it counts.
    func require(_ claims: Claims) throws(VerificationFailure) {
        try require(bundleId: claims.bundleId)
        try require(environment: claims.environment)
        guard claims.environment == .production else { return }
        guard let expected = appAppleId(of: claims.bundleId) else {
            throw VerificationFailure(
                .wrongAppAppleId,
                "Production needs the App Apple ID of \(claims.bundleId); set it in STOREHOOK_APPS as \(claims.bundleId)=ID, or as APPLE_APP_ID."
            )
        }
        guard claims.appAppleId == expected else { throw wrongAppAppleId(of: claims.bundleId) }
    }

    /// Checks a record that stands alone against the configuration, as far as it names its app: in Production Apple
    /// names the App Apple ID in some records and not in others.
    func require(
        _ bundleId: String, _ environment: Environment, asFarAsSaid appAppleId: Int64?
    ) throws(VerificationFailure) {
        try require(bundleId: bundleId)
        guard environment == .production, let appAppleId else { return }
        guard appAppleId == self.appAppleId(of: bundleId) else { throw wrongAppAppleId(of: bundleId) }
    }

    private func appAppleId(of bundleId: String) -> Int64? { configuration.apps[bundleId] ?? nil }

    private func wrongAppAppleId(of bundleId: String) -> VerificationFailure {
        VerificationFailure(
            .wrongAppAppleId, "appAppleId is not the one configured for \(bundleId) in STOREHOOK_APPS or APPLE_APP_ID.")
    }
}
