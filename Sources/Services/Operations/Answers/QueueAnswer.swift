import AppStorePayloads
import Base
package import EvidenceStore
import Postgres
import PurchaseStore

/// What is waiting, since when, and how fast it goes, as people and scripts see it.
package struct QueueAnswer: Encodable, Sendable {
    private struct Depth: Encodable, Sendable {
        var state: String
        var count: Int64
        var oldestAgeSeconds: Double
        var reason: String?
        var nextDueAt: String?
    }

    private let depth: [Depth]
    private let receivedLastMinute: Int64
    private let appliedLastMinute: Int64
    private let conservation: [String: Int64]?

    /// An answer; with `conservation`, it also accounts for every stored notification.
    package init(_ depth: [QueueDepth], _ rate: QueueRate, _ conservation: Conservation?) {
        self.depth = depth.map {
            Depth(
                state: $0.state.rawValue, count: $0.count, oldestAgeSeconds: $0.oldestAge / .seconds(1),
                reason: $0.reason, nextDueAt: $0.nextDueAt.map { Timestamp($0).description })
        }
        receivedLastMinute = rate.receivedLastMinute
        appliedLastMinute = rate.appliedLastMinute
        self.conservation = conservation.map { Dictionary($0.places) { first, _ in first } }
    }

    /// For people.
    package var text: String {
        var table = Table(["STATE", "COUNT", "OLDEST", "REASON", "NEXT DUE"], numeric: [1, 2])
        for row in depth {
            let age = row.count == 0 ? "-" : Duration.seconds(row.oldestAgeSeconds).age
            table.add([row.state, "\(row.count)", age, row.reason ?? "-", row.nextDueAt ?? "-"])
        }
        var text = table.text
        text += "\n\nlast minute: \(receivedLastMinute) received, \(appliedLastMinute) applied"
        if let conservation {
            text += "\n\n" + Conservation.names.map { "\($0) \(conservation[$0] ?? 0)" }.joined(separator: ", ")
        }
        return text
    }
}

extension Conservation {
    fileprivate static let names = [
        "received", "pending", "applied", "duplicate", "parked", "dead", "discarded", "missing", "doubled",
        "acknowledged", "withoutBytes", "waitingForHeader",
    ]

    fileprivate var places: [(String, Int64)] {
        [
            ("received", received), ("pending", pending), ("applied", applied), ("duplicate", duplicate),
            ("parked", parked), ("dead", dead), ("discarded", discarded), ("missing", missing), ("doubled", doubled),
            ("acknowledged", acknowledged), ("withoutBytes", withoutBytes), ("waitingForHeader", waitingForHeader),
        ]
    }
}
