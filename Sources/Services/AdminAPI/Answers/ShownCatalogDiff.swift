import AccountStore
import Accounts
import Operations

/// What a catalog changes, as a member of the staff sees it.
struct ShownCatalogDiff: Sendable {
    /// A change of accounts' tier, with some of the accounts.
    struct Move: Sendable {
        /// From which tier to which.
        let move: TierMove
        /// How many accounts.
        let count: Int
        /// Some of them: their ids as they are shown, and their tokens.
        let examples: [(name: String?, account: AccountStore.CatalogDiff.Example)]
    }

    /// What it says otherwise, what it lacks, and what it names in vain.
    let contents: CatalogContents
    /// How many accounts were compared.
    let accounts: Int
    /// Whether these are all.
    let isComplete: Bool
    /// What changes for them.
    let moves: [Move]
    /// How many personal texts are shown in full.
    let openedTexts: Int64

    init(_ diff: AccountStore.CatalogDiff, _ contents: CatalogContents, _ opening: Opening) {
        self.contents = contents
        (accounts, isComplete) = (diff.accounts, diff.isComplete)
        let examples = Dictionary(grouping: diff.examples, by: \.move)
        moves = diff.moves.sorted { $0.key < $1.key }.map { move, count in
            Move(
                move: move, count: count, examples: (examples[move] ?? []).map { (opening.text($0.name), $0) })
        }
        openedTexts = opening.isOpen ? Int64(diff.examples.count { $0.name != nil }) : 0
    }

    /// How many accounts would have another tier.
    var changed: Int { moves.reduce(0) { $0 + $1.count } }
}

/// What applying a catalog came to.
struct AppliedCatalogAnswer: Sendable {
    /// Its number.
    let version: Int64
    /// Whether it got it just now; otherwise the current one says the same.
    let isNew: Bool
    /// How many accounts there are; nil where none was looked at.
    let accounts: Int?
    /// What changed for them.
    let moves: [TierMove: Int]
    /// What it lacks, and what it names in vain.
    let contents: CatalogContents
}
