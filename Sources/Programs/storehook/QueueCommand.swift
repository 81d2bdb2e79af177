import ArgumentParser
import Operations
import Outbox

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show what is waiting, since when, and how fast it goes.",
        discussion: "Example: storehook queue --format json")

    @OptionGroup var shared: SharedOptions
    @Option(help: "table or json.") var format = OutputFormat.table
    @Flag(help: "Also account for every stored notification. Reads all of them.") var conservation = false

    func run() async throws {
        let (answer, counted) = try await Database.with(try await shared.settings()) { pool in
            let outbox = Outbox(pool)
            let counted = conservation ? try await outbox.conservation() : nil
            return (QueueAnswer(try await outbox.depth(), try await outbox.rate(), counted), counted)
        }
        switch format {
        case .json: print(try JSONText.encode(answer))
        case .table: print(answer.text)
        }
        // A loss is a "no" to the question that was asked.
        if counted?.isWhole == false { throw ExitStatus.failed }
    }
}
