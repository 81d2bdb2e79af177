import EventStore
import Foundation

/// Compares what an endpoint that was away received with what was written: each account's events in order, none left
/// out.
struct AwayOrder: Sendable {
    /// How many events were written.
    private(set) var told: Int
    /// Events that did not come.
    private(set) var missing: Int
    /// Events that came before or after their turn.
    private(set) var misplaced = 0
    /// Events that came, and are not among those written.
    private(set) var unknown = 0

    /// - Parameters:
    ///   - order: each event's `webhook-id`, in the order in which they came first.
    ///   - events: the written events, by number.
    init(_ order: [String], _ events: [Int64: (account: UUID, sequence: Int64)]) {
        told = events.count
        var next: [UUID: Int64] = [:]
        for event in events.values { next[event.account] = min(next[event.account] ?? .max, event.sequence) }
        var came = 0
        for id in order {
            guard let event = Delivery.eventID(id).flatMap({ events[$0] }) else {
                unknown += 1
                continue
            }
            came += 1
            if next[event.account] != event.sequence { misplaced += 1 }
            next[event.account] = event.sequence + 1
        }
        missing = told - came
    }

    /// Whether all is as it must be.
    var holds: Bool { missing == 0 && misplaced == 0 && unknown == 0 }
}
