/// Something that a document gives a client, what it is here, and the test that fails without it.
struct DocumentedItem: Sendable, CustomStringConvertible {
    /// The line of the document's text.
    let line: Int
    /// What stands there.
    let says: String
    /// A type of the client, or a type and its member.
    let here: String
    /// A suite of these tests and its function.
    let test: String

    init(_ line: Int, _ says: String, _ here: String, by test: String) {
        (self.line, self.says, self.here, self.test) = (line, says, here, test)
    }

    var description: String { "\(line): \(says)" }
}
