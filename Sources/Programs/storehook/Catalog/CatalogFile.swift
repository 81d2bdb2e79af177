import AccountStore
import Accounts
import AppStoreVerification
import Base
import Operations

/// The file that a catalog is in.
enum CatalogFile {
    /// What a catalog says otherwise than the current one, leaves out, and names in vain.
    static func contents(
        _ catalog: Catalog, _ store: AccountStore, _ settings: Settings
    ) async throws -> CatalogContents {
        let apps = (try? settings.verifier().apps.keys).map { Set($0) }
        var current: Catalog?
        // A newer release applied it: all that is said is new to this one.
        do { current = try await store.current()?.catalog } catch is UnreadableCatalog {}
        return CatalogContents(
            catalog, after: current, unsold: try await store.unsold(under: catalog),
            apps: apps.flatMap { $0.isEmpty ? nil : $0 })
    }
}
