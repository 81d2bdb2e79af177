/// A finding about a catalog's file, and its line.
public struct CatalogFinding: Sendable, Hashable, CustomStringConvertible {
    /// Whether the file can be used all the same.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// It cannot be used.
        case error
        /// It can be used, but is probably not what was meant.
        case warning
    }

    /// Whether the file can be used all the same.
    public var severity: Severity
    /// The line, from 1 on; nil where it is about the whole file.
    public var line: Int?
    /// The column there, from 1 on, in characters.
    public var column: Int?
    /// What is wrong and what to do, in one line.
    public var message: String
    /// The single value that stands there, in quotation marks, without line breaks and shortened; nil where it is about more.
    public var value: String?

    /// A finding of these parts.
    public init(_ severity: Severity, line: Int?, column: Int? = nil, _ message: String, value: String? = nil) {
        self.severity = severity
        self.line = line
        self.column = column
        self.message = message
        self.value = value
    }

    /// What is wrong, with the value where the message does not have it.
    public var text: String {
        guard let value, !message.contains(value.dropFirst().dropLast()) else { return message }
        return "\(message) (here: \(value))"
    }

    /// For people, with the place.
    public var description: String { "\(place.map { "\($0): " } ?? "")\(severity): \(text)" }

    /// `line 3, column 7`
    var place: String? { line.map { line in "line \(line)\(column.map { ", column \($0)" } ?? "")" } }
}
