import AccountStore
import ArgumentParser
import Catalog
import Operations

struct CatalogApply: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make a catalog current for all accounts.",
        discussion: """
            Workers go on meanwhile, and all accounts change at one instant. The first catalog also binds all purchases to the accounts
            that Apple signed into them. Earlier catalogs stay on record. All workers must be of a release that knows accounts.

            Example: storehook catalog diff catalog.yaml && storehook catalog apply catalog.yaml
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The catalog's file.") var file: String
    @Option(help: "table or json; table on a terminal, json elsewhere.") var format: OutputFormat?

    func run() async throws {
        let text = try CatalogFile.read(file)
        let answer = try await Database.with(try await shared.settings()) { pool in
            do {
                return CatalogDiffAnswer(try await AccountStore(pool).apply(text, by: Operator.name))
            } catch let fault as CatalogFault {
                throw CommandFailure("\(file): \(fault)")
            } catch let refusal as ApplyRefusal { throw CommandFailure("\(refusal)") }
        }
        print(OutputFormat.chosen(format) == .json ? try JSONText.encode(answer) : answer.text)
    }
}
