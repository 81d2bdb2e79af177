import ArgumentParser
import Base
import Logging
import Operations
import Pipeline

struct AccountErase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Forget a person.",
        discussion: """
            Takes out what the app's own tokens call the account, and frees its purchases for the next account that proves them, also
            those that Apple signed for this one. A hash stays, so that there is no second trial, and so does what Apple signed, as
            evidence of a sale. It cannot be undone.

            Example: storehook account erase user-42
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var account: AccountOptions

    func run() async throws {
        let name = account.account
        let settings = try await shared.settings()
        let freed = try await Database.with(settings) { pool in
            try await EvidencePipeline(pool).erase(name, by: Operator.name)
        }
        guard let freed else { throw CommandFailure("no account \(name) is known, so there is nothing to erase") }
        // Without the account's name: otherwise the logs would have to be erased next.
        try settings.logger("staff").info(
            "Staff has erased an account", metadata: ["purchases_freed": "\(freed)", "by": "\(Operator.name)"])
        let text = "erased; \(freed) purchases are free for who proves them next"
        account.output.print(CommandAnswer(["purchases_freed": freed.json], text: text))
    }
}
