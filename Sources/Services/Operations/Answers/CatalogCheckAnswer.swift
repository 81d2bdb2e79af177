package import Accounts

/// What is to be said about a catalog's file, as people and scripts see it.
package struct CatalogCheckAnswer: Encodable, Sendable {
    private struct Finding: Encodable, Sendable {
        var line: Int?
        var severity: String
        var message: String
    }

    private struct Contents: Encodable, Sendable {
        var tiers: Int
        var products: Int
        var features: Int
    }

    private let valid: Bool
    private let catalog: Contents?
    private let findings: [Finding]

    /// An answer of what a check came to.
    package init(_ catalog: Catalog?, _ findings: [CatalogFinding]) {
        valid = catalog != nil
        self.catalog = catalog.map {
            Contents(tiers: $0.tiers.count, products: $0.products.count, features: $0.features.count)
        }
        self.findings = findings.map {
            Finding(line: $0.line, severity: $0.severity.rawValue, message: $0.message)
        }
    }

    /// A line a finding, as compilers have them, so that editors find the place; and what the file has, where it can be used.
    package func text(of file: String) -> String {
        var lines = findings.map { finding in
            "\(file):\(finding.line.map { "\($0):" } ?? "") \(finding.severity): \(finding.message)"
        }
        if let catalog {
            lines.append(
                "\(file) is good: \(catalog.tiers) tiers, \(catalog.products) products, \(catalog.features) features")
        }
        return lines.joined(separator: "\n")
    }
}
