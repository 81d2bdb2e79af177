/// Where every stored notification is. Each is in exactly one place; anything else is a fault in storehook.
package struct Conservation: Sendable, Hashable {
    /// Stored and answered 200.
    package var received: Int64
    /// Still to be processed.
    package var pending: Int64
    /// Verified and applied.
    package var applied: Int64
    /// Repeats of a recorded one.
    package var duplicate: Int64
    /// Verified, of a type this release does not know.
    package var parked: Int64
    /// Dead letters that wait for an operator.
    package var dead: Int64
    /// Dead letters that an operator discarded.
    package var discarded: Int64
    /// In no place at all, or counted when stored and gone since: 0, or something is wrong.
    package var missing: Int64
    /// In more than one place: 0 or something is wrong.
    package var doubled: Int64
    /// Stored, by the counter in the storing statement. It leaves out what other programs than this release's stored.
    package var acknowledged: Int64 = 0
    /// Still to be processed while their bytes are gone: 0, or something is wrong.
    package var withoutBytes: Int64 = 0
    /// Still to be processed, and unreadable until a signature's header is there again.
    package var waitingForHeader: Int64 = 0

    /// Whether each is in one place, with its bytes where they are still needed.
    package var isWhole: Bool { missing == 0 && doubled == 0 && withoutBytes == 0 }
}
