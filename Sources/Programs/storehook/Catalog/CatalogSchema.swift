import Accounts
import ArgumentParser

struct CatalogSchema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print the JSON Schema of a catalog's file, for editors.",
        discussion: """
            A catalog that begins with the line "# yaml-language-server: $schema=catalog.schema.json" is checked while it is written,
            by editors with the YAML language server and this schema beside the file.

            Example: storehook catalog schema > catalog.schema.json
            """)

    func run() async throws { StandardOutput.line(try Catalog.schema()) }
}
