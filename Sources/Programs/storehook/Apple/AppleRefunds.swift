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
    @OptionGroup var place: PageOption

    func run() async throws {
        var request = ServerRequest.refundHistory(id)
        request.page = place.revision
        try await options.run { [request] client, environment in
            try await AppleAnswer.allPages(of: request, client, environment)
        }
    }
}
