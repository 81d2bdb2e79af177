package import AccountStore
package import Accounts
import Base

extension CommandAnswer {
    /// The findings about a catalog file and, where it can be used, its content. For people one line per finding, in
    /// the format of compilers, so that editors find the place.
    package init(_ catalog: Catalog?, _ findings: [CatalogFinding], in file: String) {
        var lines = findings.map { finding in
            let place = [finding.line, finding.column].compactMap { $0.map { "\($0):" } }.joined()
            return "\(file):\(place) \(finding.severity.rawValue): \(finding.text)"
        }
        if let catalog {
            lines.append(
                "\(file) is good: \(catalog.tiers.count) tiers, \(catalog.products.count) products, "
                    + "\(catalog.features.count) features")
        }
        self.init((catalog, findings), Self.check, text: lines.joined(separator: "\n"))
    }

    private static let check = CommandShape<(catalog: Catalog?, findings: [CatalogFinding])>([
        .init("valid") { $0.catalog != nil }, .nullable("catalog", contents, \.catalog),
        .list("findings", finding, \.findings),
    ])

    private static let contents = CommandShape<Catalog>([
        .init("tiers", \.tiers.count), .init("products", \.products.count), .init("features", \.features.count),
    ])

    private static let finding = CommandShape<CatalogFinding>([
        .init("line", \.line), .init("column", \.column), .init("severity", \.severity.rawValue),
        .init("message", \.message), .init("value", \.value),
    ])

    /// What a catalog would change for accounts.
    package init(_ diff: AccountStore.CatalogDiff) {
        self.init(
            version: nil, accounts: diff.accounts, moves: diff.moves,
            examples: Dictionary(grouping: diff.examples, by: \.move).mapValues { $0.map(\.account) })
    }

    /// What a catalog has changed for accounts.
    package init(_ applied: AccountStore.Applied) {
        self.init(version: applied.version, accounts: applied.accounts, moves: applied.moves, examples: [:])
    }

    /// - Parameter version: the number that the catalog got, where it was applied.
    private init(version: Int64?, accounts: Int, moves: [TierMove: Int], examples: [TierMove: [String]]) {
        let changed = moves.values.reduce(0, +)
        let rows = moves.sorted { $0.key < $1.key }.map { MovedAccounts($0, $1, examples: examples[$0] ?? []) }
        let head =
            version.map { "catalog \($0) is current; of \(accounts) accounts \(changed) have another tier by it" }
            ?? "of \(accounts) accounts \(changed) would have another tier"
        var members: [JSONValue.Member] = [
            .init("accounts", accounts.json), .init("changed", changed.json),
            .init("moves", MovedAccounts.shape.values(of: rows)),
        ]
        if let version { members.append(.init("version", version.json)) }
        self.init(
            .object(members), text: rows.isEmpty ? head : "\(head)\n\n\(MovedAccounts.shape.table(of: rows))")
    }
}

/// How many accounts make one move, and some of them.
private struct MovedAccounts {
    let move: TierMove
    let count: Int
    let examples: [String]

    init(_ move: TierMove, _ count: Int, examples: [String]) {
        self.move = move
        self.count = count
        self.examples = examples
    }

    static let shape = CommandShape<MovedAccounts>([
        .init("environment", column: "ENVIRONMENT", \.move.environment),
        .init("before", column: "TIER", \.move.before), .init("after", column: "BECOMES", \.move.after),
        .init("accounts", column: "ACCOUNTS", \.count), .init("examples", \.examples),
        .column("SOME OF THEM") { $0.examples.isEmpty ? nil : $0.examples.joined(separator: ", ") },
    ])
}
