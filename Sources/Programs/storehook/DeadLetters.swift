import ArgumentParser

struct DeadLetters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What could not be done: look at it, try it again, or give it up.",
        discussion: "Example: storehook dead-letters list --reason wrong_bundle",
        subcommands: [DeadLettersList.self, DeadLettersShow.self, DeadLettersReplay.self, DeadLettersDiscard.self])
}
