import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import ArgumentParser
import Foundation
import Operations

struct AppleExtend: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Have one customer's present period last longer. Apple allows it twice a year.",
        discussion: """
            Recorded before Apple is asked (DATABASE_URL), and asked for once: where no answer comes, workers with a key find
            out what Apple did, ask again only where that is nothing, and follow it until RENEWAL_EXTENDED is applied; see storehook extensions. Exits with 1 where
            Apple has not taken it on.

            Example: storehook apple extend 2000000123456789 --days 7 --reason outage
            """)

    @OptionGroup var options: AppleOptions
    @Argument(help: "The original transaction's id.") var originalTransactionID: String
    @OptionGroup var terms: ExtensionTerms
    @Option(help: "A name of your own for this request; a new UUID by default.") var requestID: String?

    func validate() throws {
        if let requestID, requestID.isEmpty || requestID.count > 128 {
            throw ValidationError("--request-id has 1 to 128 characters")
        }
    }

    func run() async throws {
        try await terms.extend(
            options, .one(originalTransactionID: originalTransactionID),
            name: requestID ?? UUID().uuidString.lowercased()
        ) { client in
            // The purchase's environment, which later steps need.
            try await client.ask(.subscriptionStatuses(originalTransactionID)).environment
        }
    }
}
