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
    @Option(help: "table or json; table on a terminal, json elsewhere.") var format: OutputFormat?

    func run() async throws {
        let text = try CatalogFile.read(file)
        let catalog: Catalog
        do throws(CatalogFault) { catalog = try Catalog(yaml: text) } catch {
            throw CommandFailure("\(file): \(error)")
        }
        let answer = try await Database.with(try await shared.settings()) { pool in
            CatalogDiffAnswer(try await AccountStore(pool).diff(catalog))
        }
        print(OutputFormat.chosen(format) == .json ? try JSONText.encode(answer) : answer.text)
    }
}
