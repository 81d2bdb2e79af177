/// Why a file of exchange rates cannot be used. Nothing of it is imported.
package struct RateFileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// A fault of a file.
    package struct Finding: Error, Sendable, Hashable, CustomStringConvertible {
        /// The line, from 1 on; nil where it is about the whole file.
        package let line: Int?
        /// What is wrong and what to do, in one line.
        package let message: String

        /// For people, with the line.
        package var description: String { line.map { "line \($0): \(message)" } ?? message }
    }

    /// What is wrong, in the order of the lines; at least one, and at most ``most``.
    package let findings: [Finding]

    /// The most findings of a file.
    package static let most = 1000

    /// The first of them in one line, and the number of the others.
    package var description: String {
        let first = findings.first?.description ?? "it cannot be used"
        return findings.count < 2 ? first : "\(first); and \(findings.count - 1) more"
    }
}
