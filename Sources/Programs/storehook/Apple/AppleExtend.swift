import AppStoreServerAPI
import ArgumentParser
import Foundation
import Operations

struct AppleExtend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend",
        abstract: "Have one customer's present period last longer. Apple allows it twice a year.",
        discussion: """
            Never asked twice by itself: where no answer comes, look with storehook apple status before asking again. Apple
            posts RENEWAL_EXTENDED. Exits with 1 where Apple did not extend it.

            Example: storehook apple extend 2000000123456789 --days 7 --reason outage
            """)

    @OptionGroup var options: AppleOptions
    @Argument(help: "The original transaction's id.") var originalTransactionID: String
    @Option(help: "By how many days, 1 to 90.") var days: Int64
    @Option(help: "undeclared, customer-satisfaction, other or outage.") var reason: ExtensionReason
    @Option(help: "A name of your own for this request; a new UUID unless told.") var requestID: String?

    func validate() throws {
        guard (1...90).contains(days) else { throw ValidationError("--days goes from 1 to 90") }
        if let requestID, requestID.isEmpty || requestID.count > 128 {
            throw ValidationError("--request-id has 1 to 128 characters")
        }
    }

    func run() async throws {
        let name = requestID ?? UUID().uuidString.lowercased()
        let request = ExtendRenewalDateRequest(
            originalTransactionID, byDays: days, reason: reason.code, requestIdentifier: name)
        var isExtended = true
        try await options.run { client, environment in
            let answered = try await client.ask(request, in: environment)
            isExtended = answered.value.success
            return AppleAnswer(extension: answered.value, request: name, from: answered.environment)
        }
        if !isExtended { throw ExitStatus.failed }
    }
}
