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
    package init(_ diff: AccountStore.CatalogDiff, _ contents: CatalogContents) {
        self.init(
            version: nil, accounts: diff.accounts, moves: diff.moves,
            examples: Dictionary(grouping: diff.examples, by: \.move).mapValues { $0.map(\.account) }, contents)
    }

    /// What a catalog has changed for accounts.
    package init(_ applied: AccountStore.Applied, _ contents: CatalogContents) {
        self.init(
            version: (applied.version, true), accounts: applied.accounts, moves: applied.moves, examples: [:], contents)
    }

    /// A catalog that was current already.
    package init(unchanged version: Int64, _ contents: CatalogContents) {
        self.init(version: (version, false), accounts: nil, moves: [:], examples: [:], contents)
    }

    /// - Parameters:
    ///   - version: the number that the catalog has, and whether it got it just now; nil where it was not applied.
    ///   - accounts: how many were looked at; nil where none was.
    private init(
        version: (number: Int64, isNew: Bool)?, accounts: Int?, moves: [TierMove: Int], examples: [TierMove: [String]],
        _ contents: CatalogContents
    ) {
        let changed = moves.values.reduce(0, +)
        let rows = moves.sorted { $0.key < $1.key }.map { MovedAccounts($0, $1, examples: examples[$0] ?? []) }
        let looked = accounts ?? 0
        let head: String? =
            switch version {
            case (let number, true)?:
                "catalog \(number) is current; "
                    + Self.moved(changed, of: looked, "has another tier by it", "have another tier by it")
            case (let number, false)?:
                "catalog \(number) says the same and is current already; nothing was changed"
            case nil where contents.changes.isEmpty: nil
            case nil: Self.moved(changed, of: looked, "would have another tier", "would have another tier")
            }
        var members: [JSONValue.Member] = [.init("changed", changed.json)]
        if let accounts { members.insert(.init("accounts", accounts.json), at: 0) }
        members.append(.init("moves", MovedAccounts.shape.values(of: rows)))
        if let version {
            members += [.init("version", version.number.json), .init("is_new", version.isNew.json)]
        }
        members += contents.members(isDiff: version == nil)
        let parts =
            [head, rows.isEmpty ? nil : MovedAccounts.shape.table(of: rows)] + contents.texts(isDiff: version == nil)
        self.init(.object(members), text: parts.compactMap(\.self).joined(separator: "\n\n"))
    }
}

extension CommandAnswer {
    /// How many accounts do something.
    fileprivate static func moved(_ count: Int, of all: Int, _ singular: String, _ plural: String) -> String {
        switch (count, all) {
        case (_, 0): "no account is known yet"
        case (0, 1): "the one account keeps its tier"
        case (0, _): "all \(all) accounts keep their tier"
        case (_, 1): "the one account \(singular)"
        case (1, _): "1 of \(all) accounts \(singular)"
        default: "\(count) of \(all) accounts \(plural)"
        }
    }
}

/// What a catalog says otherwise than the current one, and what it leaves out or names in vain.
package struct CatalogContents: Sendable {
    /// All that it says otherwise.
    package var changes: [CatalogContentChange]
    /// The products that customers hold and that it lacks.
    package var unsold: [UnsoldProduct]
    /// The apps that it names and that are not served.
    package var unserved: [String]

    /// - Parameters:
    ///   - catalog: the catalog in question.
    ///   - current: the current one; nil where there is none.
    ///   - apps: the apps that are served; nil where the settings do not say.
    package init(_ catalog: Catalog, after current: Catalog?, unsold: [UnsoldProduct], apps: Set<String>?) {
        changes = (current ?? Catalog(tiers: [])).changes(to: catalog)
        self.unsold = unsold
        let named = Set(catalog.products.map(\.bundleID))
        unserved = apps.map { named.subtracting($0).sorted() } ?? []
    }

    fileprivate func members(isDiff: Bool) -> [JSONValue.Member] {
        (isDiff ? [.init("changes", Self.change.values(of: changes))] : [])
            + [
                .init("unsold_products", UnsoldProduct.shape.values(of: unsold)),
                .init("unserved_apps", .array(unserved.map { .string($0) })),
            ]
    }

    fileprivate func texts(isDiff: Bool) -> [String?] {
        [
            !isDiff
                ? nil
                : changes.isEmpty
                    ? "it says what the current catalog says, so no account changes" : Self.change.table(of: changes),
            unsold.isEmpty
                ? nil
                : "customers hold products that it lacks, and get nothing for them:\n\n"
                    + UnsoldProduct.shape.table(of: unsold),
            unserved.isEmpty
                ? nil
                : "it names apps that are not served: \(unserved.joined(separator: ", ")); add them to STOREHOOK_APPS, or take "
                    + "their products out",
        ]
    }

    private static let change = CommandShape<CatalogContentChange>([
        .init("part", column: "PART", \.part.rawValue), .init("id", column: "ID", \.id),
        .init("member", column: "MEMBER", \.member), .init("before", column: "IS", \.before),
        .init("after", column: "BECOMES", \.after),
    ])
}

extension UnsoldProduct {
    static let shape = CommandShape<UnsoldProduct>([
        .init("environment", column: "ENVIRONMENT", \.environment), .init("bundle_id", column: "APP", \.bundleID),
        .init("product_id", column: "PRODUCT", \.productID),
    ])
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
