import AppStorePayloads
import AppStoreServerAPI
import ArgumentParser
import Foundation
import Operations

struct AppleExtendAll: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend-all",
        abstract: "Have the present period of every active subscriber of a product last longer.",
        discussion: """
            Never asked twice by itself. Apple posts RENEWAL_EXTENDED for each, and RENEWAL_EXTENSION at the end.

            Example: storehook apple extend-all --environment Production --product com.example.pro --days 2 --reason outage
            """)

    @OptionGroup var options: AppleOptions
    @Option(help: "The product.") var product: String
    @Option(help: "By how many days, 1 to 90.") var days: Int64
    @Option(help: "undeclared, customer-satisfaction, other or outage.") var reason: ExtensionReason
    @Option(name: .customLong("storefront"), help: "In this country alone (USA); may be repeated.")
    var storefronts: [String] = []

    func validate() throws {
        guard (1...90).contains(days) else { throw ValidationError("--days goes from 1 to 90") }
    }

    func run() async throws {
        guard let name = UniqueIdentifier(UUID().uuidString) else { return }
        let request = MassExtensionRequest(
            product, byDays: days, reason: reason.code, requestIdentifier: name, storefrontCountryCodes: storefronts)
        try await options.run { client, environment in
            guard let environment else {
                throw CommandFailure("say --environment Production or --environment Sandbox", status: .usage)
            }
            let answered = try await client.ask(request, in: environment)
            return AppleAnswer(massExtension: request, from: answered.environment)
        }
    }
}
