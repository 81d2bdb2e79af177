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
    /// In no place at all, or counted when it was stored and not there any more: 0 or something is wrong.
    package var missing: Int64
    /// In more than one place: 0 or something is wrong.
    package var doubled: Int64
    /// Stored, by the counter that stands in the storing statement; what others than this release's programs stored is not
    /// in it.
    package var acknowledged: Int64 = 0
    /// Still to do, and their bytes are gone: 0 or something is wrong.
    package var withoutBytes: Int64 = 0
    /// Of those still to do: cannot be read until a signature's header is there again.
    package var waitingForHeader: Int64 = 0

    /// Whether each is in one place, with its bytes where they are still needed.
    package var isWhole: Bool { missing == 0 && doubled == 0 && withoutBytes == 0 }
}
