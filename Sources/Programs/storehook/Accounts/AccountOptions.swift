import AccountStore
import Accounts
import ArgumentParser
import Operations
import Postgres

/// What names an account, and how it is answered about.
struct AccountOptions: ParsableArguments {
    @Argument(help: "The account, as the app's own tokens call it, or its appAccountToken.") var account: String
    @Option(help: "table or json; table on a terminal, json elsewhere.") var format: OutputFormat?

    func validate() throws {
        guard (1...1000).contains(account.unicodeScalars.count) else {
            throw ValidationError("an account has 1 to 1000 characters")
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

    /// Does it on record, and says what it came to.
    func perform(_ kind: StaffAct.Kind) async throws {
        let name = account.account
        let answer = try await Database.with(try await shared.settings()) { pool in
            do {
                return ActAnswer(
                    name, try await AccountStore(pool).act(kind, for: name, by: Operator.name, why: why))
            } catch let refusal as ActRefusal { throw CommandFailure("\(refusal)") }
        }
        print(OutputFormat.chosen(account.format) == .json ? try JSONText.encode(answer) : answer.text)
    }

    /// Refuses days that no record takes.
    static func validate(days: Int64) throws {
        guard (1...36_500).contains(days) else { throw ValidationError("--days goes from 1 to 36500") }
    }
}
