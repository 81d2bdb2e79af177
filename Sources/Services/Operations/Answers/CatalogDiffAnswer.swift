package import AccountStore
import Base

/// What a catalog would change, or has changed, for accounts, as people and scripts see it.
package struct CatalogDiffAnswer: Encodable, Sendable {
    private struct Move: Encodable, Sendable {
        var environment: String
        var before: String?
        var after: String
        var accounts: Int
        var examples: [String]
    }

    /// The number that the catalog got, where it was applied.
    private let version: Int64?
    private let accounts: Int
    private let changed: Int
    private let moves: [Move]

    /// What it would change.
    package init(_ diff: AccountStore.CatalogDiff) {
        self.init(
            version: nil, accounts: diff.accounts, moves: diff.moves,
            examples: Dictionary(grouping: diff.examples, by: \.move).mapValues { $0.map(\.account) })
    }

    /// What it has changed.
    package init(_ applied: AccountStore.Applied) {
        self.init(version: applied.version, accounts: applied.accounts, moves: applied.moves, examples: [:])
    }

    private init(version: Int64?, accounts: Int, moves: [TierMove: Int], examples: [TierMove: [String]]) {
        self.version = version
        self.accounts = accounts
        changed = moves.values.reduce(0, +)
        self.moves = moves.sorted { $0.key < $1.key }.map { move, count in
            Move(
                environment: move.environment, before: move.before, after: move.after, accounts: count,
                examples: examples[move] ?? [])
        }
    }

    /// For people.
    package var text: String {
        let head =
            version.map { "catalog \($0) is current; of \(accounts) accounts \(changed) have another tier by it" }
            ?? "of \(accounts) accounts \(changed) would have another tier"
        guard !moves.isEmpty else { return head }
        var table = Table(["ENVIRONMENT", "TIER", "BECOMES", "ACCOUNTS", "SOME OF THEM"], numeric: [3])
        for move in moves {
            let some = move.examples.joined(separator: ", ")
            table.add([move.environment, move.before ?? "-", move.after, "\(move.accounts)", some.isEmpty ? "-" : some])
        }
        return "\(head)\n\n\(table.text)"
    }
}
