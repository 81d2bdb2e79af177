import AppStoreServerAPI
import ArgumentParser
import Operations

struct AppleAppTransaction: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app-transaction",
        abstract: "A customer's download of the app, as Apple has it.",
        discussion: "Example: storehook apple app-transaction 2000000123456789")

    @OptionGroup var options: AppleOptions
    @Argument(help: "Any transaction id of the customer's, or an app transaction id.") var id: String

    func run() async throws {
        try await options.run { client, environment in
            let answered = try await client.ask(.appTransactionInfo(id), in: environment)
            return AppleAnswer(appTransaction: answered.value, from: answered.environment)
        }
    }
}
