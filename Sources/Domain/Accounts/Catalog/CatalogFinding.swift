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
    /// What is wrong and what to do, in one line.
    public var message: String

    /// A finding of these parts.
    public init(_ severity: Severity, line: Int?, _ message: String) {
        self.severity = severity
        self.line = line
        self.message = message
    }

    /// For people, with the line.
    public var description: String { "\(line.map { "line \($0): " } ?? "")\(severity): \(message)" }
}
