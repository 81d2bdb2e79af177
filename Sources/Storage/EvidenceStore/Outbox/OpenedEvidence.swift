package import Subscriptions

/// A stored piece of evidence, as it is read back.
package struct OpenedEvidence: Sendable, Hashable {
    /// What it is.
    package var kind: EvidenceKind
    /// Which way it came.
    package var source: EvidenceSource
    /// Its bytes; of a receipt their SHA-256, since what a batch of them holds would fill the memory.
    package var body: OpenedBody

    /// What was read back.
    package init(_ kind: EvidenceKind, from source: EvidenceSource, _ body: OpenedBody) {
        self.kind = kind
        self.source = source
        self.body = body
    }
}
