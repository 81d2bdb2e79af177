/// Where every stored notification is. Each is in one place; anything else is a fault of storehook's.
package struct Conservation: Sendable, Hashable {
    /// Stored and answered 200.
    package var received: Int64
    /// Still to do.
    package var pending: Int64
    /// Verified and applied.
    package var applied: Int64
    /// Repeats of one that is recorded already.
    package var duplicate: Int64
    /// Verified, of a type this release does not know.
    package var parked: Int64
    /// Dead letters that wait for somebody.
    package var dead: Int64
    /// Dead letters that somebody gave up.
    package var discarded: Int64
    /// In no place at all: 0 or something is wrong.
    package var missing: Int64
    /// In more than one place: 0 or something is wrong.
    package var doubled: Int64

    /// Whether each is in one place.
    package var isWhole: Bool { missing == 0 && doubled == 0 }
}
