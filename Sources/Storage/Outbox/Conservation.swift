/// Where every stored notification is. Each is in one place; anything else is a fault of storehook's.
public struct Conservation: Sendable, Hashable {
    /// Stored and answered 200.
    public var received: Int64
    /// Still to do.
    public var pending: Int64
    /// Verified and applied.
    public var applied: Int64
    /// Repeats of one that is recorded already.
    public var duplicate: Int64
    /// Verified, of a type this release does not know.
    public var parked: Int64
    /// Dead letters that wait for somebody.
    public var dead: Int64
    /// Dead letters that somebody gave up.
    public var discarded: Int64
    /// In no place at all: 0 or something is wrong.
    public var missing: Int64
    /// In more than one place: 0 or something is wrong.
    public var doubled: Int64
}
