import AppStoreServerAPI
import ArgumentParser
import Operations

struct AppleLookup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "The purchases behind the order number on a customer's receipt; Production only.",
        discussion: """
            Exits with 1 where Apple knows no such order of this app's.

            Example: storehook apple lookup MQ2XKL2XYZ
            """)

    @OptionGroup var options: AppleOptions
    @Argument(help: "The order number, as Apple mailed it to the customer.") var orderID: String

    func run() async throws {
        var isValid = true
        try await options.run { client, environment in
            let answered = try await client.ask(.orderLookup(orderID), in: environment)
            isValid = answered.value.status == .valid
            return AppleAnswer(order: answered.value, from: answered.environment)
        }
        if !isValid { throw ExitStatus.failed }
    }
}
