public import Outbox

/// Stored bytes that cannot be read, of a notification that is recorded.
public struct UnreadableEvidence: Error, Sendable, Hashable, CustomStringConvertible {
    /// Its row in the outbox.
    public var outboxID: Int64
    /// What is wrong with it.
    public var why: UnreadableBody

    /// One line: which row, what is wrong and what to do.
    public var description: String { "row \(outboxID) of the outbox: \(why)" }
}
