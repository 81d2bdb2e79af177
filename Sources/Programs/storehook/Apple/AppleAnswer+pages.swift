import AppStorePayloads
import AppStoreServerAPI
import ArgumentParser
import Base
import Operations

/// Where a list begins that Apple gives page by page.
struct PageOption: ParsableArguments {
    @Option(help: "Go on at this page, which is what the command said whose page failed.") var revision: String?
}

extension AppleAnswer {
    /// Every page of a list of transactions; where a later page fails, the pages before it.
    static func allPages(
        of request: ServerRequest<TransactionsPage>, _ client: AppStoreClient, _ environment: Environment?
    ) async throws -> AppleAnswer {
        var pages = client.pages(request, in: environment)
        var read: [TransactionsPage] = []
        var place = environment ?? .production
        var restarts = 0
        do {
            while let page = try await pages.next() {
                // The list was begun again, so pages that were read already are repeated.
                if pages.restarts > restarts { read = [] }
                restarts = pages.restarts
                place = page.environment
                read.append(page.value)
            }
        } catch let failure as AppStoreFailure {
            guard let last = read.last else { throw failure }
            // Apple forgets the name of a page after a while, and the list has to be begun again.
            let next = pages.restarts > restarts ? nil : last.nextPage
            let missing = MissingPages(after: read.count, why: failure, next: next, environment: place)
            return AppleAnswer(transactions: read, from: place, missing: missing)
        }
        return AppleAnswer(transactions: read, from: place)
    }
}
