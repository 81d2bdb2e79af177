import AccountStore
import Accounts
import ArgumentParser
import Base
import EventStore
import Foundation
import Logging
import Operations
import Pipeline
import Postgres
import Staff
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
    @OptionGroup var acting: ActingOptions

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
                    kind, for: named, by: try acting.actor(for: kind.task), why: why)
                logger.info("Staff has acted for an account", metadata: metadata(of: done, for: named))
                return CommandAnswer(name, done)
            } catch let refusal as ActRefusal { throw CommandFailure("\(refusal)") }
        }
        account.output.print(answer)
    }

    /// The line names the account by its appAccountToken alone: its id may be an e-mail address.
    private func metadata(
        of done: (act: StaffAct, before: AccountPhase, after: AccountPhase), for account: AccountIdentity
    ) -> Logger.Metadata {
        var metadata = done.after.logMetadata(of: account.token)
        metadata["environment"] = "\(Environment.production)"
        metadata["act"] = "\(done.act.kind.name)"
        metadata["number"] = "\(done.act.id)"
        metadata["tier_before"] = "\(done.before.tier)"
        metadata["status_before"] = "\(done.before.status.rawValue)"
        metadata["by"] = "\(acting.name)"
        metadata["reason"] = "\(Self.impersonal(why, naming: "\(account.token)", for: account.id))"
        if let purchase = done.before.purchase {
            metadata["original_transaction_id"] = "\(purchase.originalTransactionID)"
        }
        return metadata
    }

    /// What staff wrote, with the account's token wherever its id stands by itself, and without any other e-mail address.
    static func impersonal(_ text: String, naming token: String, for id: String?) -> String {
        func isWord(_ character: Character?) -> Bool { character.map { $0.isLetter || $0.isNumber } ?? false }
        var (named, rest) = ("", text[...])
        while let id, let found = rest.range(of: id, options: .caseInsensitive) {
            let isWhole = !isWord(text[..<found.lowerBound].last) && !isWord(text[found.upperBound...].first)
            named += rest[..<found.lowerBound] + (isWhole ? token[...] : rest[found])
            rest = rest[found.upperBound...]
        }
        return (named + rest).replacing(/[^\s<>(),;:]+@[^\s<>(),;:]+/, with: "[e-mail address]")
    }

    /// Refuses days that no record takes.
    static func validate(days: Int64) throws {
        try (1...36_500).check(days, "--days")
    }
}
