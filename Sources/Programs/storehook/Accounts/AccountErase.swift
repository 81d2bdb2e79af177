import AccountStore
import ArgumentParser
import Base
import Logging
import Operations
import Pipeline
import Staff

struct AccountErase: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Forget a person.",
        discussion: """
            Takes out what the app's own tokens call the account, what it used, what it agreed to, what apps reported of its attempts to
            buy, and what staff wrote about it: acts stay on record, with what they changed and who did it, without why. Frees its purchases for
            the next account that proves them, also those that Apple signed for this one. A hash stays, so that there is no second trial,
            and so does what Apple signed, as evidence of a sale; the answer lists what is kept. It cannot be undone.

            Example: storehook account erase user-42
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var account: AccountOptions
    @OptionGroup var acting: ActingOptions

    func run() async throws {
        let reference = account.account
        let settings = try await shared.settings()
        let erased = try await Database.with(settings) { pool in
            try await EvidencePipeline(pool).erase(
                try await Database.account(reference, pool, settings), by: try acting.actor(for: .changeAccounts))
        }
        guard let erased else { throw CommandFailure("no account \(reference) is known, so there is nothing to erase") }
        // Without the account's name: otherwise the logs would have to be erased next.
        try settings.logger("staff").info(
            "Staff has erased an account",
            metadata: ["purchases_freed": "\(erased.purchasesFreed)", "by": "\(acting.name)"])
        account.output.print(CommandAnswer(erased))
    }
}
