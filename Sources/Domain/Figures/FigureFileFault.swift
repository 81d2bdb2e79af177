package import Base

/// Why a file by which figures go cannot be used. Nothing of it is applied.
package struct FigureFileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, in the order of the lines; at least one.
    package let findings: [YAMLFault]

    /// The first of them in one line, and the number of the others.
    package var description: String {
        let first = findings.first?.description ?? "it cannot be used"
        return findings.count < 2 ? first : "\(first); and \(findings.count - 1) more"
    }
}
