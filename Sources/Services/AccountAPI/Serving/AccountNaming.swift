import AccountStore
import Accounts
import Logging
import Synchronization

/// Keeps what apps call the accounts whose token is handed out, so that events name them.
///
/// No answer fails with it. Where it cannot be written, on a server that only reads for instance, the first of a row of failures is
/// logged, and for some seconds no answer tries again: each would wait for it.
final class AccountNaming: Sendable {
    /// For how long nothing is tried after a failure.
    private static let pause = Duration.seconds(5)

    private let accounts: AccountStore
    private let logger: Logger
    private let clock: @Sendable () -> ContinuousClock.Instant
    /// When the last failure was; nil where the last attempt did not fail.
    private let failed = Mutex<ContinuousClock.Instant?>(nil)

    init(
        _ accounts: AccountStore, logger: Logger, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.accounts = accounts
        self.logger = logger
        self.clock = clock
    }

    /// Keeps the account's id, unless that failed a moment ago.
    func keep(_ account: AccountIdentity) async {
        let now = clock()
        guard failed.withLock({ $0.map { now - $0 >= Self.pause } ?? true }) else { return }
        do {
            try await accounts.keepName(of: account)
            failed.withLock { $0 = nil }
        } catch {
            // The client left: nothing is known of the database.
            if Task.isCancelled { return }
            let isFirst = failed.withLock { failed in
                defer { failed = now }
                return failed == nil
            }
            guard isFirst else { return }
            logger.warning(
                "Could not keep what the app calls an account; events name its token until a later answer can",
                metadata: ["error": "\(error)"])
        }
    }
}
