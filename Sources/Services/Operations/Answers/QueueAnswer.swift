import Base
package import EvidenceStore
import Postgres

extension CommandAnswer {
    /// What is waiting, since when, and how fast it goes; with `conservation`, it also accounts for every stored notification.
    package init(_ depth: [QueueDepth], _ rate: QueueRate, _ conservation: Conservation?) {
        var text = Self.depth.table(of: depth)
        text += "\n\nlast minute: \(rate.receivedLastMinute) received, \(rate.appliedLastMinute) applied"
        if let conservation {
            text += "\n\n" + conservation.places.map { "\($0) \($1)" }.joined(separator: ", ")
        }
        var members: [JSONValue.Member] = [
            .init("depth", Self.depth.values(of: depth)),
            .init("received_last_minute", rate.receivedLastMinute.json),
            .init("applied_last_minute", rate.appliedLastMinute.json),
        ]
        if let conservation {
            members.append(.init("conservation", .object(conservation.places.map { .init($0, $1.json) })))
        }
        self.init(.object(members), text: text)
    }

    private static let depth = CommandShape<QueueDepth>([
        .init("state", column: "STATE", \.state.rawValue), .init("count", column: "COUNT", \.count),
        .init("oldest_age_seconds") { JSONValue.number($0.oldestAge / .seconds(1)) },
        .column("OLDEST", isNumeric: true) { $0.count == 0 ? nil : $0.oldestAge.age },
        .init("reason", column: "REASON", \.reason), .init("next_due_at", column: "NEXT DUE", \.nextDueAt),
    ])
}

extension Conservation {
    fileprivate var places: [(String, Int64)] {
        [
            ("received", received), ("pending", pending), ("applied", applied), ("duplicate", duplicate),
            ("parked", parked), ("dead", dead), ("discarded", discarded), ("missing", missing), ("doubled", doubled),
            ("acknowledged", acknowledged), ("withoutBytes", withoutBytes), ("waitingForHeader", waitingForHeader),
        ]
    }
}
