import ArgumentParser
import Base
import EvidenceStore
import Operations
import Staff

struct DeadLettersDiscard: ActingCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Give dead letters up, for a reason that stays on record.",
        discussion: "Example: storehook dead-letters discard 17 18 --why \"probes by our own scanner\"")

    @OptionGroup var shared: SharedOptions
    @Argument(help: "The letters' numbers.") var ids: [Int64]
    @OptionGroup var reason: ReasonOption
    @OptionGroup var acting: ActingOptions
    @OptionGroup var output: Output

    func run() async throws {
        try await Database.with(try await shared.settings()) { pool in
            let outbox = Outbox(pool)
            let discarded = try await outbox.discard(ids, by: try acting.actor(for: .discard), why: reason.why)
            output.print(
                CommandAnswer(
                    ["discarded": discarded.count.json, "ids": discarded.json], text: "discarded \(discarded.count)"))
            try await DeadLettersNamed.refuseUnknown(ids, done: discarded, outbox)
        }
    }
}
