import ArgumentParser
import Base
import EvidenceStore
import Operations

struct DeadLettersDiscard: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Give dead letters up, for a reason that stays on record.",
        discussion: "Example: storehook dead-letters discard 17 18 --why \"probes by our own scanner\"")

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The letters' numbers.") var ids: [Int64]
    @OptionGroup var reason: ReasonOption
    @OptionGroup var output: TableOutput

    func run() async throws {
        let discarded = try await Database.with(try await shared.settings()) { pool in
            try await Outbox(pool).discard(ids, by: Operator.name, why: reason.why)
        }
        output.print(
            CommandAnswer(
                ["discarded": discarded.count.json, "ids": discarded.json], text: "discarded \(discarded.count)"))
        if discarded.count < Set(ids).count {
            throw CommandFailure("\(Set(ids).count - discarded.count) of the letters are not open, or do not exist")
        }
    }
}
