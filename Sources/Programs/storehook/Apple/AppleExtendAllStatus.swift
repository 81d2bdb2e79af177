import AppStorePayloads
import AppStoreServerAPI
import ArgumentParser
import Base
import Operations

struct AppleExtendAllStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend-all-status",
        abstract: "How far Apple is with a mass extension.",
        discussion: """
            Asks Apple alone; storehook extensions show has what is known here, with each failure.

            Example: storehook apple extend-all-status com.example.pro 7f1de78e-0d4e-4c5e-9d3c-000000000001
            """)

    @OptionGroup var options: AppleOptions
    @Argument(help: "The product.") var product: String
    @Argument(help: "What extend-all has printed.") var requestID: String

    func validate() throws {
        guard UniqueIdentifier(requestID) != nil else { throw ValidationError("a request's name is a UUID") }
    }

    func run() async throws {
        guard let id = UniqueIdentifier(requestID) else { return }
        try await options.run(environmentWhenOpen: .production) { client, environment in
            let answered = try await client.ask(
                .massExtensionStatus(product, requestIdentifier: id), in: environment)
            return AppleAnswer(massStatus: answered.value, from: answered.environment)
        }
    }
}
