package import Subscriptions

/// A stored piece of evidence, read back.
package struct OpenedEvidence: Sendable, Hashable {
    /// What it is.
    package var kind: EvidenceKind
    /// Which way it came.
    package var source: EvidenceSource
    /// Its bytes; for a receipt their SHA-256, since the receipts of a batch would fill the memory.
    package var body: OpenedBody

    /// Evidence that was read back.
    package init(_ kind: EvidenceKind, from source: EvidenceSource, _ body: OpenedBody) {
        self.kind = kind
        self.source = source
        self.body = body
    }
}
