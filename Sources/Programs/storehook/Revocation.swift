import AppStoreVerification
import Logging
import Pipeline

/// A program's cache of revoked certificates and its checker: one of each, so that no certificate is asked about twice.
struct Revocation: Sendable {
    let cache = RevocationCache()
    let checker: RevocationChecker

    /// - Parameter requester: asks the responders; its creator closes it.
    init(_ requester: OCSPRequester, logger: Logger) { checker = requester.checker(for: cache, logger: logger) }
}
