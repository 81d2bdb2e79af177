import Foundation
import HTTPKit
import Logging
import ServiceLifecycle
import UnixSignals

/// Reloads the receiver's certificate at SIGHUP. If the new file is invalid, the receiver keeps its certificate and
/// logs the reason.
struct CertificateRenewal: Service {
    private let identity: TLSIdentity
    private let signals: UnixSignalsSequence
    private let logger: Logger

    /// From now on SIGHUP does not end the process any more.
    init(of identity: TLSIdentity, logger: Logger) async {
        self.identity = identity
        self.logger = logger
        signals = await UnixSignalsSequence(trapping: .sighup)
        warnIfExpired()
    }

    func run() async throws {
        for await _ in signals.cancelOnGracefulShutdown() {
            do {
                try identity.reload()
                logger.info(
                    "Read the certificate again",
                    metadata: ["file": "\(identity.certificateFile)", "expires": "\(identity.expires.ISO8601Format())"])
                warnIfExpired()
            } catch {
                logger.error("Kept the certificate: the new one is no good", metadata: ["error": "\(error)"])
            }
        }
    }

    private func warnIfExpired() {
        guard identity.expires < Date() else { return }
        logger.warning(
            "The certificate has expired, and Apple will not post to it",
            metadata: ["file": "\(identity.certificateFile)", "expires": "\(identity.expires.ISO8601Format())"])
    }
}
