import AppStoreServerAPI
import ArgumentParser
import Operations

struct AppleFinish: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish",
        abstract: "Tell Apple that the customer has what a transaction was for.",
        discussion: "Example: storehook apple finish 2000000123456789")

    @OptionGroup var options: AppleOptions
    @Argument(help: "The transaction's id.") var id: String

    func run() async throws {
        try await options.run { client, environment in
            let answered = try await client.ask(.finishTransaction(id), in: environment)
            return AppleAnswer(accepted: "transaction \(id) is finished", from: answered.environment)
        }
    }
}
