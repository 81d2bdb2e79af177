import APIKit
import AccountAPI
import AccountStore
import Accounts
import Configuration
import Foundation
import Postgres

extension Settings {
    /// `STOREHOOK_JWT_KEYS` or `STOREHOOK_JWT_SECRET_FILE`: where the keys are that app tokens are checked with, or the secret.
    func tokenKeys() throws -> TokenKeySource {
        let secret = try text("storehook.jwt.secret.file")
        guard let text = try text("storehook.jwt.keys") else {
            if let secret { return .secret(secret) }
            throw missing(
                "STOREHOOK_JWT_KEYS is not set: the JWKS URL of who signs your app's tokens, or a file with a JWKS or public keys "
                    + "in PEM; where they are signed with a secret, set STOREHOOK_JWT_SECRET_FILE")
        }
        guard secret == nil else {
            throw CommandFailure("set STOREHOOK_JWT_KEYS or STOREHOOK_JWT_SECRET_FILE, not both", status: .usage)
        }
        do {
            return try TokenKeySource(text)
        } catch {
            throw CommandFailure("STOREHOOK_JWT_KEYS: \(error)", status: .usage)
        }
    }

    /// The one of the two that is set.
    var tokenKeysVariable: String {
        isSet("storehook.jwt.secret.file") ? "STOREHOOK_JWT_SECRET_FILE" : "STOREHOOK_JWT_KEYS"
    }

    /// Whether anything is set that the account API alone reads.
    var hasTokenKeys: Bool {
        isSet("storehook.jwt.keys") || isSet("storehook.jwt.secret.file") || isSet("storehook.jwt.issuer")
            || isSet("storehook.jwt.audience")
    }

    /// `STOREHOOK_JWT_ISSUER`, `STOREHOOK_JWT_AUDIENCE`, `STOREHOOK_JWT_ACCOUNT_CLAIM`, `STOREHOOK_JWT_ROLE_CLAIM`.
    func tokenRules() throws -> TokenRules {
        func required(_ key: ConfigKey, _ name: String, _ what: String) throws -> String {
            guard let text = try text(key) else {
                throw missing("\(name) is not set: \(what)")
            }
            return text
        }
        return TokenRules(
            issuer: try required(
                "storehook.jwt.issuer", "STOREHOOK_JWT_ISSUER", "what stands as iss in your app's tokens"),
            audience: try required(
                "storehook.jwt.audience", "STOREHOOK_JWT_AUDIENCE",
                "what stands as aud in your app's tokens, so that one for another service is not taken"),
            accountClaim: try text("storehook.jwt.account.claim") ?? "sub",
            roleClaim: try text("storehook.jwt.role.claim") ?? "role")
    }

    /// `STOREHOOK_ACCOUNT_IDS`: the rule that makes an account's appAccountToken of its id; nil where it is not set: then the database's
    /// rule counts.
    func accountIDs() throws -> AccountIDRule? {
        guard let text = try text("storehook.account.ids") else { return nil }
        guard let rule = AccountIDRule(rawValue: text) else {
            throw CommandFailure(
                "STOREHOOK_ACCOUNT_IDS is auto, uuid where every id is a UUID, or text where users choose their ids",
                status: .usage)
        }
        return rule
    }

    /// `STOREHOOK_RESTORE`: which account gets a purchase that a second account proves; by default the first keeps it.
    func restoreRule() throws -> RestoreRule {
        guard let text = try text("storehook.restore") else { return .keep }
        guard let rule = RestoreRule(rawValue: text) else {
            throw CommandFailure(
                "STOREHOOK_RESTORE is keep, so that a purchase stays with the account that proved it first, or transfer",
                status: .usage)
        }
        return rule
    }

    /// `STOREHOOK_SANDBOX_ACCESS`, `STOREHOOK_TESTERS`: the accounts whose Sandbox purchases give access; by default
    /// none.
    func sandboxAccess() throws -> SandboxAccess {
        switch try text("storehook.sandbox.access") ?? "testers" {
        case "all": return .all
        case "testers": return .testers(.init(try testers()))
        default:
            throw CommandFailure(
                "STOREHOOK_SANDBOX_ACCESS is testers, which STOREHOOK_TESTERS names, or all", status: .usage)
        }
    }

    private func testers() throws -> [String] {
        let names = try list("storehook.testers") ?? []
        guard names.allSatisfy(Caller.isID) else {
            throw CommandFailure(
                "STOREHOOK_TESTERS: write accounts as your app's tokens name them, comma-separated", status: .usage)
        }
        return names
    }

    /// `STOREHOOK_GUARD_OUTAGE`: the guard's answer while the state cannot be read; `refuse` by default.
    func guardOutage() throws -> Guard.Outage {
        guard let text = try text("storehook.guard.outage") else { return .refuse }
        guard let outage = Guard.Outage(rawValue: text) else {
            throw CommandFailure("STOREHOOK_GUARD_OUTAGE is refuse or allow", status: .usage)
        }
        return outage
    }

    /// `STOREHOOK_CORS_ORIGINS`: the web origins that may call the API; by default none.
    func corsPolicy() throws -> CORSPolicy {
        let origins = try list("storehook.cors.origins") ?? []
        guard origins.allSatisfy(CORSPolicy.isOrigin) else {
            throw CommandFailure(
                "STOREHOOK_CORS_ORIGINS: write origins as browsers do, comma-separated, without a path: "
                    + "https://app.example.com", status: .usage)
        }
        return CORSPolicy(origins: Set(origins))
    }

    /// `STOREHOOK_REQUESTS_PER_ACCOUNT`, `STOREHOOK_REQUESTS_PER_ADDRESS`: how many requests a minute; a fifth of them at once.
    func requestRates() throws -> (account: APIConfiguration.Rate, address: APIConfiguration.Rate) {
        func rate(_ key: ConfigKey, _ name: String, default usual: Int) throws -> APIConfiguration.Rate {
            let perMinute = try positive(key, name, default: usual, upTo: 10_000_000)
            return APIConfiguration.Rate(perMinute: perMinute, burst: max(1, perMinute / 5))
        }
        return (
            try rate("storehook.requests.per.account", "STOREHOOK_REQUESTS_PER_ACCOUNT", default: 600),
            try rate("storehook.requests.per.address", "STOREHOOK_REQUESTS_PER_ADDRESS", default: 6000)
        )
    }

    /// `DATABASE_URL` for the account API, with short timeouts: for an app's user an error to retry is better than
    /// waiting.
    func servingDatabase() throws -> PostgresConfiguration {
        var configuration = try writableDatabase()
        configuration.connectTimeout = min(configuration.connectTimeout, .milliseconds(800))
        configuration.acquireTimeout = .milliseconds(800)
        configuration.queryTimeout = .seconds(4)
        configuration.cancelGracePeriod = .milliseconds(500)
        return configuration
    }

    /// Refuses variables that would skip verification elsewhere: nothing skips it here. An operator who brings such a
    /// variable from another system gets an error instead of a false belief that it works.
    /// - Throws: `CommandFailure` naming the variable.
    func refuseSkippedVerification(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        let inFile: [(ConfigKey, String)] = [
            ("skip.jws.verification", "SKIP_JWS_VERIFICATION"), ("skip.verification", "SKIP_VERIFICATION"),
            ("storehook.skip.verification", "STOREHOOK_SKIP_VERIFICATION"),
            ("skip.signature.verification", "SKIP_SIGNATURE_VERIFICATION"),
            ("skip.jwt.verification", "SKIP_JWT_VERIFICATION"),
        ]
        let named =
            environment.filter { !$0.value.isEmpty && Self.skipsVerification($0.key) }.keys.min()
            ?? inFile.first { isSet($0.0) }?.1
        if let named {
            throw CommandFailure(
                "\(named) is set, and nothing skips verification here: take it out; for tests, trust a root of your own with "
                    + "STOREHOOK_TRUSTED_ROOTS", status: .usage)
        }
    }

    /// `SKIP_JWS_VERIFICATION` and its like.
    static func skipsVerification(_ name: String) -> Bool {
        let words = name.uppercased().split(separator: "_")
        guard let verb = words.first(where: { $0 != "STOREHOOK" }) else { return false }
        return ["SKIP", "DISABLE", "BYPASS", "IGNORE"].contains(verb)
            && words.contains { ["VERIFICATION", "VERIFY", "SIGNATURE", "SIGNATURES"].contains($0) }
    }
}
