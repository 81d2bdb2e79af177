import AppStoreServerAPI
import ArgumentParser
import Operations

struct AppleTransaction: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transaction",
        abstract: "One transaction, as Apple has it now.",
        discussion: "Example: storehook apple transaction 2000000123456789")

    @OptionGroup var options: AppleOptions
    @Argument(help: "The transaction's id.") var id: String

    func run() async throws {
        try await options.run { client, environment in
            let answered = try await client.ask(.transactionInfo(id), in: environment)
            return AppleAnswer(transaction: answered.value, from: answered.environment)
        }
    }
}
