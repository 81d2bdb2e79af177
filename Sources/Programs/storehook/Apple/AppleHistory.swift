import AppStorePayloads
import AppStoreServerAPI
import ArgumentParser
import Base
import Operations

struct AppleHistory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "All transactions of a customer's, as Apple has them now, every page of them.",
        discussion: "Example: storehook apple history 2000000123456789 --since 2026-01-01")

    @OptionGroup var options: AppleOptions
    @Argument(help: "Any transaction id of the customer's, or an app transaction id.") var id: String
    @Option(help: "Purchases from here on, ISO 8601 in UTC.") var since: Instant?
    @Option(help: "Purchases before this, ISO 8601 in UTC.") var until: Instant?
    @Option(name: .customLong("product"), help: "Of this product alone; may be repeated.") var products: [String] = []
    @Flag(help: "Only what was refunded or taken back.") var revoked = false

    func run() async throws {
        let request = ServerRequest.transactionHistory(
            id, from: since?.timestamp, to: until?.timestamp, products: products, revoked: revoked ? true : nil)
        try await options.run { client, environment in
            try await AppleAnswer.allPages(of: request, client, environment)
        }
    }
}

extension AppleAnswer {
    /// Every page of a list of transactions.
    static func allPages(
        of request: ServerRequest<TransactionsPage>, _ client: AppStoreClient, _ environment: Environment?
    ) async throws -> AppleAnswer {
        var pages = client.pages(request, in: environment)
        var read: [TransactionsPage] = []
        var place = environment ?? .production
        var restarts = 0
        while let page = try await pages.next() {
            // The list was begun again, so pages that were read already are repeated.
            if pages.restarts > restarts { read = [] }
            restarts = pages.restarts
            place = page.environment
            read.append(page.value)
        }
        return AppleAnswer(transactions: read, from: place)
    }
}
