import ArgumentParser
import Outbox
import Queue

struct QueueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Show what is waiting, since when, and how fast it goes.",
        discussion: "Example: storehook queue --format json")

    @OptionGroup var shared: SharedOptions
    @Option(help: "table or json.") var format = OutputFormat.table
    @Flag(help: "Also account for every stored notification. Reads all of them.") var conservation = false

    private struct Answer: Encodable {
        struct Depth: Encodable {
            var state: String
            var count: Int64
            var oldestAgeSeconds: Double
        }
        var depth: [Depth]
        var receivedLastMinute: Int64
        var appliedLastMinute: Int64
        var conservation: [String: Int64]?
    }

    func run() async throws {
        let answer = try await Database.with(try await shared.settings()) { pool in
            let outbox = Outbox(pool)
            let depth = try await outbox.depth()
            let rate = try await outbox.rate()
            return Answer(
                depth: depth.map {
                    .init(state: $0.state.rawValue, count: $0.count, oldestAgeSeconds: $0.oldestAge / .seconds(1))
                },
                receivedLastMinute: rate.receivedLastMinute, appliedLastMinute: rate.appliedLastMinute,
                conservation: conservation ? try await outbox.conservation().byName : nil)
        }
        switch format {
        case .json: print(try JSONText.encode(answer))
        case .table: print(table(answer))
        }
        // A loss is a "no" to the question that was asked.
        if answer.conservation.map({ $0["missing"] != 0 || $0["doubled"] != 0 }) ?? false { throw ExitStatus.failed }
    }

    private func table(_ answer: Answer) -> String {
        var depth = Table(["STATE", "COUNT", "OLDEST"], numeric: [1, 2])
        for row in answer.depth {
            depth.add([row.state, "\(row.count)", row.count == 0 ? "-" : Self.age(row.oldestAgeSeconds)])
        }
        var text = depth.text
        text += "\n\nlast minute: \(answer.receivedLastMinute) received, \(answer.appliedLastMinute) applied"
        if let conservation = answer.conservation {
            let names = Conservation.names
            text += "\n\n" + names.map { "\($0) \(conservation[$0] ?? 0)" }.joined(separator: ", ")
        }
        return text
    }

    static func age(_ seconds: Double) -> String {
        switch seconds {
        case ..<60: "\(Int(seconds)) s"
        case ..<7200: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3600)) h"
        default: "\(Int(seconds / 86_400)) d"
        }
    }
}

extension Conservation {
    fileprivate static let names = [
        "received", "pending", "applied", "duplicate", "parked", "dead", "discarded", "missing", "doubled",
    ]

    fileprivate var byName: [String: Int64] {
        [
            "received": received, "pending": pending, "applied": applied, "duplicate": duplicate, "parked": parked,
            "dead": dead, "discarded": discarded, "missing": missing, "doubled": doubled,
        ]
    }
}
