/// An app's shared secret for old receipts. It never shows itself.
public struct SharedSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// For the body of verifyReceipt alone.
    package let text: String

    /// A secret; white space around it is the editor's.
    public init?(_ text: String) {
        let trimmed = text.split(whereSeparator: \.isWhitespace)
        guard trimmed.count == 1 else { return nil }
        self.text = String(trimmed[0])
    }

    /// Nothing of what it holds.
    public var description: String { "(shared secret)" }

    /// Nothing of what it holds.
    public var debugDescription: String { description }

    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
