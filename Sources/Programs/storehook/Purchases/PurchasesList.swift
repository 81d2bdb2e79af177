import AccountStore
import Accounts
import AppStorePayloads
import ArgumentParser
import Base
import Operations

struct PurchasesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what apps have reported of attempts to buy and to restore, the latest first.",
        discussion: """
            Each is what an app saw, and is not verified. An answer names the number before which the earlier ones are (next). With
            --kind or --outcome it looks through 100000 reports at most, so that it may name that number without having found any.
            Reports are kept for STOREHOOK_HISTORY_DAYS.

            Example: storehook purchases list --kind restore --outcome nothing --before 90210
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "Only of this account: its id, or token: and its appAccountToken.") var account: AccountReference?
    @Option(help: "Only of this kind: purchase or restore.") var kind: PurchaseAttempt.Kind?
    @Option(help: "Only with this outcome: pending, cancelled, failed, completed or nothing.")
    var outcome: PurchaseAttempt.Outcome?
    @Option(help: "Only those before this number.") var before: Int64?
    @OptionGroup var list: ListLimit
    @OptionGroup var output: Output

    func validate() throws {
        try account?.validate()
        guard before.map({ $0 > 0 }) ?? true else { throw ValidationError("--before takes a number, 1 or more") }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let found = try await Database.with(settings) { pool in
            let token = try await Database.token(account, pool, settings)
            return try await AccountStore(pool).attempts(
                .init(account: token, kind: kind, outcome: outcome), before: before, limit: list.limit)
        }
        output.print(CommandAnswer(found))
    }
}

extension PurchaseAttempt.Kind: ExpressibleByArgument {}
extension PurchaseAttempt.Outcome: ExpressibleByArgument {}
