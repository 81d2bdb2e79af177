import ArgumentParser
import EvidenceStore
import Operations

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show what is waiting, since when, and how fast it goes.",
        discussion: """
            --conservation accounts for every stored notification, and exits with 1 if one is in no place or in two. Days that
            are over were counted once and are taken as they were, so it may be asked often; --audit counts every row again,
            which takes seconds for each million.

            Example: storehook queue --conservation --format json
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var output: Output
    @Flag(help: "Also account for every stored notification.") var conservation = false
    @Flag(help: "With --conservation: count every row again.") var audit = false

    func validate() throws {
        guard conservation || !audit else { throw ValidationError("--audit goes with --conservation") }
    }

    func run() async throws {
        let (answer, counted) = try await Database.with(try await shared.settings()) { pool in
            let outbox = Outbox(pool)
            let counted = conservation ? try await outbox.conservation(audit: audit) : nil
            return (CommandAnswer(try await outbox.depth(), try await outbox.rate(), counted), counted)
        }
        output.print(answer)
        // A loss is a "no" to the question that was asked.
        if counted?.isWhole == false { throw ExitStatus.failed }
    }
}
