import Accounts
import ArgumentParser
import Operations

struct CatalogCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say all that is wrong with a catalog's file, and where.",
        discussion: """
            Needs no database. A finding a line, with the file's name, the line, the column and what stands there; warnings are about what can be used and is
            probably not meant. Exits with 1 if the file cannot be used.

            Example: storehook catalog check catalog.yaml
            """)

    @Argument(help: "The catalog's file.") var file: String
    @OptionGroup var output: Output

    func run() async throws {
        let (catalog, findings) = Catalog.check(yaml: try YAMLFile.read(file))
        output.print(CommandAnswer(catalog, findings, in: file))
        if catalog == nil { throw ExitStatus.failed }
    }
}
