/// One POST of a simulation, before signing.
public struct Delivery: Sendable, Hashable {
    /// The place in the stream, from 0.
    public var position: Int
    /// Which of the unique notifications it is, from 0 in the order of their first deliveries: a repeat has the number of the one that it
    /// repeats, and must be posted as the very same text.
    public var unique: Int
    /// Whether it repeats an earlier delivery.
    public var isDuplicate: Bool
    /// What it says.
    public var notification: UnsignedNotification
}
