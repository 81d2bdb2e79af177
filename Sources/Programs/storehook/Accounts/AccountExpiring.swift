import AccountStore
import AppStorePayloads
import ArgumentParser
import Base
import Operations

struct AccountExpiring: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "expiring",
        abstract: "List the accounts that lose their access soon, with nothing to renew it.",
        discussion: """
            The next first. An account that keeps access by another source is not among them. Days are of 24 hours, and as many as the
            catalog's warning_days by default. For reports: storehook.expiring_soon('7 days') in SQL.

            Example: storehook account expiring --days 3
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "Within how many days, 0 to 3650; the catalog's warning_days by default.") var days: Int?
    @Option(help: "Apple's name of the environment.", transform: Environment.argument)
    var environment = Environment.production
    @Option(help: "The most to be listed, 1 to 100000.") var limit = 100
    @OptionGroup var output: Output

    func validate() throws {
        try (0...3650).check(days, "--days")
        try (1...100_000).check(limit, "--limit")
    }

    func run() async throws {
        let found = try await Database.with(try await shared.settings()) { pool in
            do {
                return try await AccountStore(pool).expiring(within: days, in: environment.rawValue, limit: limit)
            } catch let refusal as ActRefusal { throw CommandFailure("\(refusal)") }
        }
        output.print(CommandAnswer(found))
    }
}
