import EvidenceStore
import HTTPKit
import Logging

/// Reads which headers workers have verified, so that the receiver need not store them again each time.
///
/// A header that this receiver does not know yet is stored as it was posted.
func knownHeaders(of outbox: Outbox, every interval: Duration, logger: Logger) -> Refresher<Void> {
    Refresher(
        every: interval, warning: "Could not read signature headers; notifications are stored whole until then",
        logger: logger
    ) { try await outbox.learnHeaders() }
}
