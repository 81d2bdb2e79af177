/// One value, or one member's name, in the flat list that ``JSONDocument`` keeps: sixteen bytes each.
///
/// A container's nodes follow it at once; an object's come in pairs of name and value.
struct JSONNode: Sendable {
    enum Kind: UInt8, Sendable {
        case object, array, string, number, yes, no, null
    }

    var kind: Kind
    /// Whether a string has escapes, so that its text is not its bytes.
    var isEscaped = false
    /// The value's bytes; of a string what stands between the quotes.
    var start: UInt32
    var end: UInt32
    /// The index of the first node after this one and all that is in it.
    var next: UInt32 = 0

    var range: Range<Int> { Int(start)..<Int(end) }
}
