import Accounts
import ArgumentParser

struct RevokeCommand: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End all that gives an account access now.",
        discussion: """
            Renewals of it give nothing either, until storehook unrevoke; what is bought or granted later counts again. No money moves.

            Example: storehook revoke user-42 --why "shared the password"
            """)

    @OptionGroup var options: ActOptions

    func run() async throws { try await options.perform(.revoke) }
}
