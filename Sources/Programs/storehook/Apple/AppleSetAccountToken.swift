import AppStorePayloads
import AppStoreServerAPI
import ArgumentParser
import Base
import Operations

struct AppleSetAccountToken: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-account-token",
        abstract: "Tell Apple whose a purchase is.",
        discussion: """
            Example: storehook apple set-account-token 2000000123456789 7f1de78e-0d4e-4c5e-9d3c-000000000001
            """)

    @OptionGroup var options: AppleOptions
    @Argument(help: "The original transaction's id.") var originalTransactionID: String
    @Argument(help: "The account's token, a UUID.") var token: String

    func validate() throws {
        guard UniqueIdentifier(token)?.accountToken != nil else {
            throw ValidationError("an account token is a UUID, and not the nil UUID")
        }
    }

    func run() async throws {
        guard let token = UniqueIdentifier(token) else { return }
        try await options.run { client, environment in
            let request = ServerRequest.appAccountToken(originalTransactionID, is: token)
            let answered = try await client.ask(request, in: environment)
            return AppleAnswer(
                accepted: "Apple signs purchase \(originalTransactionID) for account \(token) from now on",
                from: answered.environment)
        }
    }
}
