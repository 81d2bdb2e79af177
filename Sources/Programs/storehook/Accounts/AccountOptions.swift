import AccountStore
import Accounts
import ArgumentParser
import Base
import EventStore
import Logging
import Operations
import Pipeline
import Postgres
import Subscriptions

/// What names an account, and how it is answered about.
struct AccountOptions: ParsableArguments {
    @Argument(help: "The account's id, as the app's own tokens call it; or token: and its appAccountToken.")
    var account: AccountReference
    @OptionGroup var output: Output

    func validate() throws { try account.validate() }
}

extension AccountReference: ExpressibleByArgument {
    /// The nil UUID is read, too, so that ``validate()`` can say what is wrong with it.
    package init?(argument: String) { self = AccountReference(argument) ?? .token(.init(high: 0, low: 0)) }

    /// Refuses what names no account.
    func validate() throws {
        switch self {
        case .id(let id):
            guard (1...1000).contains(id.unicodeScalars.count) else {
                throw ValidationError("an account has 1 to 1000 characters")
            }
        case .token(let token):
            guard token.accountToken != nil else {
                throw ValidationError(
                    "the nil UUID is no account: client libraries write it where the app set no token")
            }
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
        let reference = account.account
        let settings = try await shared.settings()
        let logger = try settings.logger("staff")
        let answer = try await Database.with(settings) { pool in
            do {
                let named = try await Database.account(reference, pool, settings)
                let name = named.name
                let done = try await EvidencePipeline(pool).act(
                    kind, for: named, by: Operator.name, why: why)
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
