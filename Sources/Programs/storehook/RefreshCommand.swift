import AppStoreServerAPI
import AppleSync
import ArgumentParser
import History
import Operations

struct RefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Ask Apple about a purchase now, and store what it says.",
        discussion: """
            Stores the signed records of Get Transaction History, Get All Subscription Statuses and Get Refund History. They
            take the way of all evidence: a worker verifies and applies them, and storehook subscription names their source.
            Doing it twice changes nothing. Exits with 1 if a record in Apple's answers is not Apple's.

            Example: storehook refresh 2000000123456789
            """)

    @OptionGroup var options: AppleOptions
    @Argument(help: "The purchase's original transaction id, or any transaction id of the customer's.")
    var id: String

    func run() async throws {
        let settings = try await options.shared.settings()
        let report = try await Database.with(settings) { pool in
            try await AppleAccess.with(settings, app: options.app, in: options.place) { client, environment in
                try await PurchaseRefresh(History(pool), client, priority: .interactive).run(id, in: environment)
            }
        }
        let answer = RefreshAnswer(report)
        print(OutputFormat.chosen(options.format) == .json ? try JSONText.encode(answer) : answer.text)
        if !answer.isComplete { throw ExitStatus.failed }
    }
}
