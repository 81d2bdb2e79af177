/// A fault in one of Apple's reports: what is wrong, and where.
package struct ReportFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1 on; nil where it is about the whole file.
    package let line: Int?
    /// What is wrong and what to do, in one line.
    package let message: String

    /// A fault of these parts.
    package init(line: Int?, _ message: String) {
        self.line = line
        self.message = message
    }

    /// For people, with the line.
    package var description: String { line.map { "line \($0): \(message)" } ?? message }
}
