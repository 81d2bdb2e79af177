import AccountStore
import EventStore
import EvidenceStore

/// What one round of maintenance did, as people and scripts see it.
package struct MaintenanceAnswer: Encodable, Sendable {
    private struct Day: Encodable, Sendable {
        var day: String
        var outcome: String
        var gone: Int64
        var kept: Int64
    }

    private struct Over: Encodable, Sendable {
        var counters: Int64
        var keys: Int64
    }

    private struct Gone: Encodable, Sendable {
        var deliveries: Int
        var endpoints: Int
    }

    private struct Failure: Encodable, Sendable {
        var step: String
        var error: String
    }

    private let made: Int
    private let days: [Day]
    private let settled: Int
    private let expired: Int64
    private let usage: Over
    private let deliveries: Gone
    private let failures: [Failure]

    /// An answer.
    package init(_ round: MaintenanceRound) {
        let report = round.outbox
        usage = Over(counters: round.usage.counters, keys: round.usage.keys)
        deliveries = Gone(deliveries: round.deliveries.deliveries, endpoints: round.deliveries.endpoints)
        made = report.made
        settled = report.settled
        expired = report.expired
        failures = report.failures.map { Failure(step: $0.step, error: "\($0.error)") }
        days = report.days.map { Day(day: $0.day, outcome: $0.outcome.rawValue, gone: $0.gone, kept: $0.kept) }
    }

    /// For people: a line for the partitions, one for the letters that were given up, one for each day that is too old, one
    /// for the days that were counted, one for what is over of usage, one for old deliveries, and one for each step that failed.
    package static func text(_ round: MaintenanceRound) -> String {
        let report = round.outbox
        let failures = report.failures.map { "failed: \($0.step): \($0.error)" }
        let made = report.made == 0 ? "partitions stand ready" : "made \(report.made) partitions"
        let settled = report.settled == 0 ? [] : ["counted \(report.settled) days for the books"]
        let expired = report.expired == 0 ? [] : ["gave up \(report.expired) letters that did not verify"]
        let (counters, keys) = (round.usage.counters, round.usage.keys)
        let usage = counters + keys == 0 ? [] : ["threw away \(counters) counters of usage and \(keys) keys"]
        let (old, removed) = (round.deliveries.deliveries, round.deliveries.endpoints)
        let deliveries =
            old + removed == 0 ? [] : ["threw away \(old) old deliveries and \(removed) removed endpoints"]
        return ([made] + expired + report.days.map(line) + settled + usage + deliveries + failures).joined(
            separator: "\n")
    }

    private static func line(_ day: MaintenanceReport.Day) -> String {
        switch day.outcome {
        case .dropped:
            "\(day.day) dropped: the bytes of \(day.gone) notifications"
                + (day.kept == 0 ? "" : ", without \(day.kept) that are still to do")
        case .stays: "\(day.day) stays: \(day.kept) are still to do; see storehook queue, storehook dead-letters list"
        case .busy: "\(day.day) left to another session, which is at it"
        case .failed: "\(day.day) not dropped: see below"
        case .postponed: "\(day.day) not dropped: somebody reads the outbox without a pause; try again later"
        }
    }
}
