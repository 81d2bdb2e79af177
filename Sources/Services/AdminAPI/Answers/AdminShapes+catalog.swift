import AccountStore
import Accounts
import Base
import Operations

extension AdminShapes {
    /// The current catalog.
    static let catalog = Shape<AccountStore.AppliedCatalog, Void>(
        "Catalog",
        [
            .init("version", "Its number.") { $0.version }, .init("appliedAt") { $0.at },
            .init("appliedBy") { $0.person }, .init("source", "The file, word for word.") { $0.source },
            .init("preparing", "The number of the one that is being prepared to take its place.") { $0.preparing },
        ])

    /// What a catalog would change.
    static let catalogDiff = Shape<ShownCatalogDiff, Void>(
        "CatalogDiff",
        [
            .list("changes", change, about: "All that it says otherwise than the current one.") {
                $0.contents.changes
            },
            .init("accounts", "How many were compared.") { $0.accounts },
            .init("complete", "Whether these are all: after 20 seconds no further ones are compared.") {
                $0.isComplete
            },
            .init("changed", "How many of them would have another tier.") { $0.changed },
            .list("moves", move, about: "From which tier to which.") { $0.moves },
            .list("unsoldProducts", unsold, about: "Products that customers hold and that it lacks.") {
                $0.contents.unsold
            },
            .init("unservedApps", "Apps that it names and that are not served.") { $0.contents.unserved },
        ])

    /// What applying a catalog came to.
    static let appliedCatalog = Shape<AppliedCatalogAnswer, Void>(
        "AppliedCatalog",
        [
            .init("version", "Its number.") { $0.version },
            .init("isNew", "False where the current catalog says the same: then nothing was changed.") { $0.isNew },
            .init("accounts", "How many there are; null where none was looked at.") { $0.accounts },
            .init("changed", "How many have another tier by it.") { $0.moves.values.reduce(0, +) },
            .list("moves", tierMove, about: "From which tier to which.") { $0.moves.sorted { $0.key < $1.key } },
            .list("unsoldProducts", unsold, about: "Products that customers hold and that it lacks.") {
                $0.contents.unsold
            },
            .init("unservedApps", "Apps that it names and that are not served.") { $0.contents.unserved },
        ])

    private static let change = Shape<CatalogContentChange, Void>(
        "CatalogChange",
        [
            .init("part", "Where in the file it stands.") { $0.part.rawValue }, .init("id") { $0.id },
            .init("member", "Null where the whole entry is new or gone.") { $0.member },
            .init("before") { $0.before }, .init("after") { $0.after },
        ])

    private static let move = Shape<ShownCatalogDiff.Move, Void>(
        "CatalogMove",
        [
            .init("environment") { $0.move.environment },
            .init("before", "Null where there was no catalog.") { $0.move.before }, .init("after") { $0.move.after },
            .init("accounts") { $0.count }, .list("examples", example, about: "Some of them.") { $0.examples },
        ])

    private static let example = Shape<(name: String?, account: AccountStore.CatalogDiff.Example), Void>(
        "CatalogMoveExample",
        [
            .init("account", "Its id in the app's own tokens, shortened unless it is opened.") { $0.name },
            .init("appAccountToken") { $0.account.token },
        ])

    private static let tierMove = Shape<(key: TierMove, value: Int), Void>(
        "AppliedCatalogMove",
        [
            .init("environment") { $0.key.environment }, .init("before") { $0.key.before },
            .init("after") { $0.key.after }, .init("accounts") { $0.value },
        ])

    private static let unsold = Shape<UnsoldProduct, Void>(
        "UnsoldProduct",
        [
            .init("environment") { $0.environment }, .init("bundleId") { $0.bundleID },
            .init("productId") { $0.productID },
        ])

    /// A finding about a file that cannot be used.
    static let catalogFinding = Shape<CatalogFinding, Void>([
        .init("line") { $0.line }, .init("column") { $0.column }, .init("severity") { $0.severity.rawValue },
        .init("message") { $0.message }, .init("value") { $0.value },
    ])
}
