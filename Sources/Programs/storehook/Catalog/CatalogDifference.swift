import AccountStore
import Accounts
import ArgumentParser
import Operations

struct CatalogDifference: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Say what a catalog changes: prices, limits, features, products, and accounts.",
        discussion: """
            Lists all that the file says otherwise than the current catalog. Derives every account under it as apply would: how many
            would have another tier, and some of them by name. Names products that customers hold and that the file lacks, and apps
            that STOREHOOK_APPS does not have. Changes nothing. Exits with 1 on any difference, and with 0 where the file says the
            same as the current catalog.

            Example: storehook catalog diff catalog.yaml
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The catalog's file.") var file: String
    @OptionGroup var output: Output

    func run() async throws {
        let text = try YAMLFile.read(file)
        let catalog: Catalog
        do throws(CatalogFault) { catalog = try Catalog(yaml: text) } catch {
            throw CommandFailure("\(file): \(error)")
        }
        let settings = try await shared.settings()
        let (answer, differs) = try await Database.with(settings) { pool in
            let store = AccountStore(pool)
            let contents = try await CatalogFile.contents(catalog, store, settings)
            // Where nothing is said otherwise, nothing becomes of accounts.
            let diff = contents.changes.isEmpty ? AccountStore.CatalogDiff() : try await store.diff(catalog)
            return (CommandAnswer(diff, contents), !contents.changes.isEmpty)
        }
        output.print(answer)
        if differs { throw ExitStatus.failed }
    }
}
