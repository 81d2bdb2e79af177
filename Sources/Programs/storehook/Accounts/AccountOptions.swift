import AccountStore
import Accounts
import ArgumentParser
import EventStore
import Logging
import Operations
import Pipeline
import Postgres
import Subscriptions

/// What names an account, and how it is answered about.
struct AccountOptions: ParsableArguments {
    @Argument(help: "The account, as the app's own tokens call it, or its appAccountToken.") var account: String
    @OptionGroup var output: Output

    func validate() throws { try Self.validate(account: account) }

    /// Refuses what names no account.
    static func validate(account: String) throws {
        guard (1...1000).contains(account.unicodeScalars.count) else {
            throw ValidationError("an account has 1 to 1000 characters")
        }
        guard AccountToken.names(account) else {
            throw ValidationError("the nil UUID is no account: client libraries write it where the app set no token")
        }
    }
}

/// What every act for an account takes.
struct ActOptions: ParsableArguments {
    @OptionGroup var shared: SharedOptions
    @OptionGroup var account: AccountOptions
    @Option(help: "Why, for the record.") var why: String

    func validate() throws {
        guard (1...1000).contains(why.unicodeScalars.count), why.contains(where: { !$0.isWhitespace }) else {
            throw ValidationError("--why takes 1 to 1000 characters: the reason, for the record")
        }
    }

    /// Performs the act on record, and prints the result.
    func perform(_ kind: StaffAct.Kind) async throws {
        let name = account.account
        let settings = try await shared.settings()
        let logger = try settings.logger("staff")
        let answer = try await Database.with(settings) { pool in
            do {
                let done = try await EvidencePipeline(pool).act(
                    kind, for: name, by: Operator.name, why: why)
                var metadata: Logger.Metadata = [
                    "account": "\(name)", "act": "\(kind.name)", "number": "\(done.act.id)",
                    "tier": "\(done.after.tier)", "tier_before": "\(done.before.tier)",
                    "status": "\(done.after.status.rawValue)", "by": "\(Operator.name)", "why": "\(why)",
                ]
                metadata["ends"] = done.after.expiresAt.map { "\($0)" }
                metadata["original_transaction_id"] = done.before.purchase.map { "\($0.originalTransactionID)" }
                logger.info("Staff has acted for an account", metadata: metadata)
                return CommandAnswer(name, done)
            } catch let refusal as ActRefusal { throw CommandFailure("\(refusal)") }
        }
        account.output.print(answer)
    }

    /// Refuses days that no record takes.
    static func validate(days: Int64) throws {
        try (1...36_500).check(days, "--days")
    }
}
