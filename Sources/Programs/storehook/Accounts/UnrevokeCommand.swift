import Accounts
import ArgumentParser

struct UnrevokeCommand: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "unrevoke",
        abstract: "Lift the blocks of an account.",
        discussion: """
            What has not ended meanwhile gives access again.

            Example: storehook unrevoke user-42 --why "it was somebody else"
            """)

    @OptionGroup var options: ActOptions

    func run() async throws { try await options.perform(.unrevoke) }
}
