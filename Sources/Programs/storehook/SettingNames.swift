/// The names of all settings, and which of those that are set no program reads.
enum SettingNames {
    /// A name that is set and that no program reads.
    struct Unknown: Sendable, Hashable, CustomStringConvertible {
        let name: String
        /// The setting that was probably meant; nil where none is like it.
        let nearest: String?

        /// For people, without what the name says.
        var description: String { "\(name) is no setting" + (nearest.map { "; did you mean \($0)?" } ?? "") }
    }

    /// All that the programs read, as the chapter Configuration lists them.
    static let known: Set<String> = [
        "APPLE_APP_ID", "APPLE_BUNDLE_ID", "APPLE_ISSUER_ID", "APPLE_KEY_ID", "APPLE_PRIVATE_KEY",
        "APPLE_SHARED_SECRET", "DATABASE_URL", "STOREHOOK_ACCOUNT_IDS", "STOREHOOK_APPLE_KEYS", "STOREHOOK_APPLE_URL",
        "STOREHOOK_APPS", "STOREHOOK_CANARY_MINUTES", "STOREHOOK_CONNECTIONS_PER_ADDRESS",
        "STOREHOOK_CONSOLE_AUTH", "STOREHOOK_CONSOLE_GROUPS", "STOREHOOK_CONSOLE_PATH", "STOREHOOK_CONSUMPTION_POLICY",
        "STOREHOOK_CORS_ORIGINS", "STOREHOOK_DELIVERY_DAYS",
        "STOREHOOK_ENDPOINT_CERTIFICATES", "STOREHOOK_ENDPOINT_HTTP", "STOREHOOK_ENDPOINT_NETWORKS",
        "STOREHOOK_ENVIRONMENTS", "STOREHOOK_FOUR_EYES", "STOREHOOK_GRACE_DAYS", "STOREHOOK_GUARD_OUTAGE",
        "STOREHOOK_HISTORY_DAYS",
        "STOREHOOK_JUNK_DAYS", "STOREHOOK_JUNK_MIB_PER_DAY", "STOREHOOK_JUNK_PER_MINUTE",
        "STOREHOOK_JWT_ACCOUNT_CLAIM", "STOREHOOK_JWT_AUDIENCE", "STOREHOOK_JWT_ISSUER", "STOREHOOK_JWT_KEYS",
        "STOREHOOK_JWT_ROLE_CLAIM", "STOREHOOK_JWT_SECRET_FILE", "STOREHOOK_LEASE_SECONDS", "STOREHOOK_LISTEN",
        "STOREHOOK_LOG_FORMAT", "STOREHOOK_LOG_LEVEL", "STOREHOOK_MAX_ATTEMPTS", "STOREHOOK_MAX_PAYLOAD_AGE_DAYS",
        "STOREHOOK_RENEWAL_LEEWAY", "STOREHOOK_REQUESTS_PER_ACCOUNT", "STOREHOOK_REQUESTS_PER_ADDRESS",
        "STOREHOOK_RESTORE", "STOREHOOK_RETENTION_DAYS", "STOREHOOK_REVOCATION", "STOREHOOK_SANDBOX_ACCESS",
        "STOREHOOK_SECRET_KEY_FILE", "STOREHOOK_TESTERS", "STOREHOOK_TLS_CERTIFICATE", "STOREHOOK_TLS_KEY",
        "STOREHOOK_TRUSTED_PROXIES", "STOREHOOK_TRUSTED_ROOTS",
    ]

    /// What deploy/compose.yaml, deploy/package and the tests read; the programs do not.
    static let others: Set<String> = [
        "STOREHOOK_API_PASSWORD", "STOREHOOK_API_PORT", "STOREHOOK_COMMIT", "STOREHOOK_CONSOLE_PASSWORD",
        "STOREHOOK_CONSOLE_PORT", "STOREHOOK_OPS_PASSWORD",
        "STOREHOOK_OWNER_PASSWORD", "STOREHOOK_PORT", "STOREHOOK_RECEIVER_PASSWORD", "STOREHOOK_WORKER_PASSWORD",
    ]

    /// Those of these names that look like settings and are none, in order: each that begins as storehook's do, and of a file also
    /// those that are one slip of the fingers away from one.
    /// - Parameters:
    ///   - environment: what is set in the environment, where other programs have theirs.
    ///   - file: what stands in a file that was named.
    static func unknown(environment: some Sequence<String>, file: some Sequence<String>) -> [Unknown] {
        let own = Set(environment).union(file).filter { $0.hasPrefix("STOREHOOK_") }
        let slips = Set(file).filter { name in
            !name.hasPrefix("STOREHOOK_") && Spelling.nearest(to: name, among: known, upTo: 2) != nil
        }
        return own.union(slips).subtracting(known).subtracting(others).filter { !isOthers($0) }.sorted()
            .map { Unknown(name: $0, nearest: nearest(to: $0)) }
    }

    /// Tests, fuzzing, what is refused elsewhere, and what Kubernetes puts into each container for a service called storehook-something.
    private static func isOthers(_ name: String) -> Bool {
        name.hasPrefix("STOREHOOK_TEST_") || name.hasPrefix("STOREHOOK_FUZZ") || name.hasPrefix("STOREHOOK_UPDATE_")
            || Settings.skipsVerification(name) || name.hasSuffix("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
            || name.wholeMatch(of: /STOREHOOK_[A-Z0-9_]*PORT(?:_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?/)
                != nil
    }

    /// The setting that is most like a name; nil where more than a third of it is otherwise.
    private static func nearest(to name: String) -> String? {
        Spelling.nearest(to: name, among: known, upTo: max(2, (name.count - "STOREHOOK_".count) / 3))
    }
}
