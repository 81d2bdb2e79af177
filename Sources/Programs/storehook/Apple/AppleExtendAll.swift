import AppleRecords
import ArgumentParser
import Foundation
import Operations

struct AppleExtendAll: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend-all",
        abstract: "Have the present period of every active subscriber of a product last longer.",
        discussion: """
            Recorded before Apple is asked (DATABASE_URL), and asked again only where it had done nothing. Apple works
            through it for hours or days; workers with a key follow it until all is known: storehook extensions shows how far it
            is, and whom Apple could not extend. Not recorded while one of the same countries, or of a single subscription to the
            product, is not finished. Exits with 1 where Apple has not taken it on.

            Example: storehook apple extend-all --environment Production --product com.example.pro --days 2 --reason outage
            """)

    @OptionGroup var options: AppleOptions
    @Option(help: "The product.") var product: String
    @OptionGroup var terms: ExtensionTerms
    @Option(name: .customLong("storefront"), help: "In this country alone (USA); may be repeated.")
    var storefronts: [String] = []

    func run() async throws {
        try await terms.extend(
            options, .all(productID: product, storefronts: storefronts), name: UUID().uuidString.lowercased()
        ) { _ in
            throw CommandFailure("say --environment Production or --environment Sandbox", status: .usage)
        }
    }
}
