/// What was found of one post from an address.
package struct SenderFinding: Sendable, Hashable {
    /// The address.
    package var sender: String
    /// Its bytes, where nobody vouches for them; nil where it is genuine.
    package var junkBytes: Int64?

    /// A finding.
    package init(sender: String, junkBytes: Int64?) {
        self.sender = sender
        self.junkBytes = junkBytes
    }
}
