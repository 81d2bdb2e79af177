import ArgumentParser

struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract: "An account: its tier, its status, and why; or forget it. Or whose access ends soon.",
        discussion: """
            What an account has follows from its purchases, what staff did for it, the app's trial and the catalog.

            Example: storehook account user-42 --at 2026-01-31T12:00:00Z
            """,
        subcommands: [AccountShow.self, AccountExpiring.self, AccountErase.self], defaultSubcommand: AccountShow.self)
}
