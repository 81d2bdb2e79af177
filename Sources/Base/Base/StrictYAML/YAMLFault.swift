package import Yams

/// A fault in a YAML text: what is wrong, where, and what to write instead.
public struct YAMLFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1 on; nil where it is about the whole text.
    public let line: Int?
    /// What is wrong and what to do, in one line.
    public let message: String

    /// A fault of these parts.
    public init(line: Int?, message: String) {
        self.line = line
        self.message = message
    }

    /// A fault at a node.
    package init(_ node: Node, _ message: String) { self.init(line: node.mark?.line, message: message) }

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
