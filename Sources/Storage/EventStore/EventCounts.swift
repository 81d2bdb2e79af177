package import Events

/// The events written in a transaction, counted.
package struct EventCounts: Sendable, Hashable {
    /// How many events of each kind, by cause.
    package var events: [Line: Int] = [:]
    /// Those of them that report how a trial ended. Mostly there are none.
    package private(set) var trials: [TrialEnd: Trials] = [:]

    /// How an event is counted.
    package struct Line: Sendable, Hashable {
        /// Its kind.
        package var kind: EventKind
        /// The cause that it gives.
        package var cause: String
    }

    /// Trials that ended alike.
    package struct Trials: Sendable, Hashable {
        /// How many.
        package var count: Int
        /// The event about the last of them.
        package var last: EventDraft
    }

    /// How many events.
    package var count: Int { events.values.reduce(0, +) }

    /// Nothing.
    package init() {}

    /// Counts the draft at a place: an event is large, and taken out of the array it would be copied.
    mutating func count(_ drafts: [EventDraft], _ place: Int) {
        events[Line(kind: drafts[place].kind, cause: drafts[place].cause.name), default: 0] += 1
        guard drafts[place].kind == .accountAccessChanged, let end = drafts[place].trialEnd else { return }
        trials[end] = Trials(count: (trials[end]?.count ?? 0) + 1, last: drafts[place])
    }

    /// Both.
    package static func + (a: EventCounts, b: EventCounts) -> EventCounts {
        var sum = a
        sum.events.merge(b.events, uniquingKeysWith: +)
        sum.trials.merge(b.trials) { Trials(count: $0.count + $1.count, last: $1.last) }
        return sum
    }
}
