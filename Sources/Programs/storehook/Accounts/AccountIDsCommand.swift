import AccountStore
import Accounts
import ArgumentParser
import Logging
import Operations
import Staff

struct AccountIDsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account-ids",
        abstract: "Show or change the rule that makes an account's appAccountToken of its id.",
        discussion: """
            An id is what the app's own tokens call an account, and never a token. The database keeps the rule, and every program uses
            it. A program whose STOREHOOK_ACCOUNT_IDS is another rule does not start.

            auto: a UUID of any version but 5 is its own token, every other id is hashed
            uuid: every id is a UUID and its own token; nothing else is an id
            text: every id is hashed, for logins whose users choose their ids

            Example: storehook account-ids set uuid
            """,
        subcommands: [AccountIDsShow.self, AccountIDsSet.self], defaultSubcommand: AccountIDsShow.self)
}

struct AccountIDsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the rule of account ids.",
        discussion: """
            Exits with 1 where there is none: then storehook serve does not start.

            Example: storehook account-ids
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var output: Output

    func run() async throws {
        let standing = try await Database.with(try await shared.settings(), checkingIDs: false) {
            try await AccountIDs($0).standing()
        }
        output.print(CommandAnswer(standing))
        if standing.rule == nil { throw CommandFailure("\(AccountIDRefusal.unnamed)") }
    }
}

struct AccountIDsSet: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change the rule of account ids for all programs.",
        discussion: """
            Lists the ids whose token changes. Without --yes it changes nothing, and exits with 1 where there is something to change.
            Nothing is moved. What Apple signed for the old token and what was recorded for it stays with that token, whose id is not known
            any more: storehook account token:UUID. The id has its new token, and nothing of what was before. The change is one transaction:
            commands and requests that name accounts wait for it, readers and workers do not. Account APIs use the new rule within seven
            seconds, unless their own setting is another rule.

            Example: storehook account-ids set text --yes
            """)

    @OptionGroup var shared: SharedOptions
    @Argument(help: "auto, uuid or text.") var rule: AccountIDRule
    @Flag(help: "Change it.") var yes = false
    @Option(help: "How many ids are listed, 0 to 1000000.") var limit = 100
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func validate() throws { try (0...1_000_000).check(limit, "--limit") }

    func run() async throws {
        let settings = try await shared.settings()
        let change = try await Database.with(settings, checkingIDs: false) {
            try await AccountIDs($0).change(
                to: rule, by: yes ? try acting.actor(for: .changeAccounts) : nil, listing: limit)
        }
        output.print(CommandAnswer(change))
        if change.isDone {
            try settings.logger("staff").notice(
                "Staff has changed the rule of account ids",
                metadata: [
                    "rule": "\(rule.rawValue)", "before": "\(change.before?.rawValue ?? "none")",
                    "ids_with_another_token": "\(change.count)", "by": "\(acting.name)",
                ])
        } else if !change.isNone {
            throw CommandFailure("nothing is changed; to change it: storehook account-ids set \(rule.rawValue) --yes")
        }
    }
}

extension AccountIDRule: ExpressibleByArgument {}
