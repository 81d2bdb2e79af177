import AccountStore
import Accounts
import ArgumentParser
import Operations

struct CatalogDifference: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Say how many accounts a catalog would give another tier, and name some of them.",
        discussion: """
            Derives every account under it as apply would, and changes nothing.

            Example: storehook catalog diff catalog.yaml
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The catalog's file.") var file: String
    @OptionGroup var output: Output

    func run() async throws {
        let text = try CatalogFile.read(file)
        let catalog: Catalog
        do throws(CatalogFault) { catalog = try Catalog(yaml: text) } catch {
            throw CommandFailure("\(file): \(error)")
        }
        let answer = try await Database.with(try await shared.settings()) { pool in
            CommandAnswer(try await AccountStore(pool).diff(catalog))
        }
        output.print(answer)
    }
}
