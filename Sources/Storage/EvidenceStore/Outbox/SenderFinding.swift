/// The result for one post from an address.
package struct SenderFinding: Sendable, Hashable {
    /// The address.
    package var sender: String
    /// The number of its bytes, where it is junk; nil where it is genuine.
    package var junkBytes: Int64?

    /// A finding.
    package init(sender: String, junkBytes: Int64?) {
        self.sender = sender
        self.junkBytes = junkBytes
    }
}
