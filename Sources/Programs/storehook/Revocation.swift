import AppStoreVerification
import Logging
import Pipeline

/// What a program knows of revoked certificates, and who finds out more: one of each, so that nothing is asked twice.
struct Revocation: Sendable {
    let cache = RevocationCache()
    let checker: RevocationChecker

    /// - Parameter requester: asks the responders; who made it closes it.
    init(_ requester: OCSPRequester, logger: Logger) { checker = requester.checker(for: cache, logger: logger) }
}
