import ArgumentParser

struct RatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rates",
        abstract: "Exchange rates for figures in one currency.",
        discussion: """
            Example: storehook rates import eurofxref-hist.xml && storehook rates list
            """,
        subcommands: [RatesImport.self, RatesList.self])
}
