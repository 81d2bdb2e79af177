import ArgumentParser

struct CatalogCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalog",
        abstract: "What is sold and what it gives: tiers, products, features with their limits, the app's own trial.",
        discussion: """
            A catalog is one YAML file, kept where the operator keeps the like. deploy/catalogs has examples, and a schema by which
            editors help to write one.

            Example: storehook catalog check deploy/catalogs/tiers-and-limits.yaml
            """,
        subcommands: [
            CatalogCheck.self, CatalogDifference.self, CatalogApply.self, CatalogShow.self, CatalogSchema.self,
        ])
}
