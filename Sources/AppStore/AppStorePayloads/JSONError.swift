/// Why and where a text is not accepted as JSON; never its content.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The text ends in the middle of a value.
        case unexpectedEnd = "the text ends too early"
        /// A byte that cannot stand where it stands.
        case unexpectedByte = "a byte that cannot stand here"
        /// Something follows the value.
        case trailingBytes = "more text after the value"
        /// Bytes that are not UTF-8.
        case invalidUTF8 = "not UTF-8"
        /// A control character in a string.
        case controlCharacter = "a control character in a string"
        /// An escape that JSON does not have, or half of a surrogate pair.
        case invalidEscape = "an escape that means nothing"
        /// U+0000 in a string.
        case nullCharacter = "U+0000 in a string"
        /// A number that JSON does not allow, or one of absurd length.
        case invalidNumber = "a number that is malformed or absurdly long"
        /// Two members of an object have the same name.
        case duplicateKey = "two members of the same name"
        /// More arrays and objects within each other than ``JSONDocument/maximumDepth``.
        case tooDeep = "nested too deeply"
        /// More values than the reader of this text takes.
        case tooManyValues = "too many values"
        /// A text of 2 GiB or more.
        case tooLong = "too long"
    }

    /// What is wrong.
    public let reason: Reason
    /// Where, in bytes from the beginning; for a repeated name, the name's second place.
    public let offset: Int

    /// Creates the error.
    public init(reason: Reason, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason and the offset, in one line.
    public var description: String { "\(reason.rawValue) (byte \(offset))" }
}
