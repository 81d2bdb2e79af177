package import EvidenceStore

/// Stored bytes that cannot be read, of a notification that is recorded.
package struct UnreadableEvidence: Error, Sendable, Hashable, CustomStringConvertible {
    /// Its row in the outbox.
    package var outboxID: Int64
    /// What is wrong with it.
    package var why: UnreadableBody

    /// One line: which row, what is wrong and what to do.
    package var description: String { "row \(outboxID) of the outbox: \(why)" }
}
