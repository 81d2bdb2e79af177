import AppStorePayloads
import AppStoreServerAPI
import ArgumentParser
import Base
import Operations

struct AppleHistory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "All transactions of a customer's, as Apple has them now, every page of them.",
        discussion: """
            Where a later page fails, it shows the pages before it, says which failed and how to go on, and exits with 1.

            Example: storehook apple history 2000000123456789 --since 2026-01-01
            """)

    @OptionGroup var options: AppleOptions
    @Argument(help: "Any transaction id of the customer's, or an app transaction id.") var id: String
    @Option(help: "Purchases from here on, ISO 8601 in UTC.", transform: Timestamp.argument) var since: Timestamp?
    @Option(help: "Purchases before this, ISO 8601 in UTC.", transform: Timestamp.argument) var until: Timestamp?
    @Option(name: .customLong("product"), help: "Of this product alone; may be repeated.") var products: [String] = []
    @Flag(help: "Only what was refunded or taken back.") var revoked = false
    @OptionGroup var place: PageOption

    func run() async throws {
        var request = ServerRequest.transactionHistory(
            id, from: since, to: until, products: products, revoked: revoked ? true : nil
        )
        request.page = place.revision
        try await options.run { [request] client, environment in
            try await AppleAnswer.allPages(of: request, client, environment)
        }
    }
}
