import Accounts
import ArgumentParser
import Operations

struct CatalogCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say all that is wrong with a catalog's file, and where.",
        discussion: """
            Needs no database. A finding a line, with the file's name and the line; warnings are about what can be used and is
            probably not meant. Exits with 1 if the file cannot be used.

            Example: storehook catalog check catalog.yaml
            """)

    @Argument(help: "The catalog's file.") var file: String
    @Option(help: "table or json; table on a terminal, json elsewhere.") var format: OutputFormat?

    func run() async throws {
        let (catalog, findings) = Catalog.check(yaml: try CatalogFile.read(file))
        let answer = CatalogCheckAnswer(catalog, findings)
        print(OutputFormat.chosen(format) == .json ? try JSONText.encode(answer) : answer.text(of: file))
        if catalog == nil { throw ExitStatus.failed }
    }
}
