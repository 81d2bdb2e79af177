import AppStoreServerAPI
import ArgumentParser
import Operations

struct AppleStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Every auto-renewable subscription of a customer's, as Apple has it now.",
        discussion: "Example: storehook apple status 2000000123456789")

    @OptionGroup var options: AppleOptions
    @Argument(help: "Any transaction id of the customer's, or an app transaction id.") var id: String

    func run() async throws {
        try await options.run { client, environment in
            let answered = try await client.ask(.subscriptionStatuses(id), in: environment)
            return AppleAnswer(statuses: answered.value, from: answered.environment)
        }
    }
}
