import AppStoreServerAPI
import ArgumentParser
import Operations

struct AppleRefunds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds",
        abstract: "Everything that a customer got money back for.",
        discussion: "Example: storehook apple refunds 2000000123456789")

    @OptionGroup var options: AppleOptions
    @Argument(help: "Any transaction id of the customer's, or an app transaction id.") var id: String

    func run() async throws {
        try await options.run { client, environment in
            try await AppleAnswer.allPages(of: .refundHistory(id), client, environment)
        }
    }
}
