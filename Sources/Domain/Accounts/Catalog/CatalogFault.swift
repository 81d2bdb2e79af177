/// Why a catalog's file cannot be used.
public struct CatalogFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The errors, in the order of their lines; at least one.
    public let findings: [CatalogFinding]

    /// A fault of these errors.
    public init(_ findings: [CatalogFinding]) { self.findings = findings }

    /// The first of them in one line, and the number of the others.
    public var description: String {
        let first = findings.first.map { "\($0.place.map { "\($0): " } ?? "")\($0.text)" } ?? "it cannot be used"
        return findings.count < 2
            ? first : "\(first); and \(findings.count - 1) more, which storehook catalog check shows"
    }
}
