import AccountStore
import Accounts
import ArgumentParser
import Operations
import Staff

struct CatalogApply: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make a catalog current for all accounts.",
        discussion: """
            Workers go on meanwhile, and all accounts change at one instant. The first catalog also binds all purchases to the accounts
            that Apple signed into them. Earlier catalogs stay on record. A worker of a release that knows nothing of accounts is refused
            by the database from the first catalog on: what it claims waits, and its log and /readyz say that it is to be upgraded.

            It waits for transactions that stand in the way, and nobody waits for it. After --patience it gives up, says whose
            transaction it is, and has changed nothing.

            A file that says the same as the current catalog, word for word or not, is no new version. The answer also names products
            that customers hold and that the catalog lacks, and apps of its that STOREHOOK_APPS does not have.

            Example: storehook catalog apply catalog.yaml
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The catalog's file.") var file: String
    @Option(help: "For how many seconds others' transactions may stand in the way.")
    var patience: Int64 = AccountStore.usualPatience.components.seconds
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws {
        try (0...86_400).check(patience, "--patience")
    }

    func run() async throws {
        let text = try YAMLFile.read(file)
        let settings = try await shared.settings()
        let answer = try await Database.with(settings) { pool in
            do {
                let (store, catalog) = (AccountStore(pool), try Catalog(yaml: text))
                if let version = try await store.standing(as: catalog) {
                    try await store.listProducts()
                    return CommandAnswer(unchanged: version, try await CatalogFile.contents(catalog, store, settings))
                }
                let applied = try await store.apply(
                    text, by: try acting.actor(for: .applyCatalog), patience: .seconds(patience))
                return CommandAnswer(applied, try await CatalogFile.contents(catalog, store, settings))
            } catch let fault as CatalogFault {
                throw CommandFailure("\(file): \(fault)")
            } catch let refusal as ApplyRefusal { throw CommandFailure("\(refusal)") }
        }
        output.print(answer)
    }
}
