package import Yams

/// A fault in a YAML text: what is wrong, where, and what to write instead.
public struct YAMLFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1 on; nil where it is about the whole text.
    public let line: Int?
    /// The column there, from 1 on, in characters.
    public let column: Int?
    /// What is wrong and what to do, in one line.
    public let message: String
    /// The single value that stands there, as ``quoting(_:)`` has it. It is in no line of this type's own: it may be a secret.
    package let value: String?

    /// A fault of these parts.
    public init(line: Int?, column: Int? = nil, message: String) {
        self.line = line
        self.column = column
        self.message = message
        value = nil
    }

    /// A fault at a node.
    package init(_ node: Node, _ message: String) {
        line = node.mark?.line
        column = node.mark?.column
        self.message = message
        value = node.scalar.map { Self.quoting($0.string) }
    }

    /// For people, with the line.
    public var description: String { line.map { "line \($0): \(message)" } ?? message }

    /// A quotation of the operator's text for a line: shortened, and without line breaks and control characters.
    package static func quoting(_ text: String) -> String {
        let breaks: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
        let shown = text.unicodeScalars.prefix(60)
            .map { breaks.contains($0.properties.generalCategory) ? " " : String($0) }
        return "\"\(shown.joined())\(shown.count < text.unicodeScalars.count ? "…" : "")\""
    }
}
