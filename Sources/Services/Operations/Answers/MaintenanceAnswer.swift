import AccountStore
import Base
import EventStore
import EvidenceStore

extension CommandAnswer {
    /// The result of a round of maintenance. For people one line each for:
    /// - the partitions;
    /// - the letters that were given up;
    /// - each day that is too old, and the days that were counted;
    /// - expired usage, old attempts and consents, and old deliveries;
    /// - each step that failed.
    package init(_ round: MaintenanceRound) {
        let report = round.outbox
        let made = report.made == 0 ? "partitions stand ready" : "made \(report.made) partitions"
        let settled = report.settled == 0 ? [] : ["counted \(report.settled) days for the books"]
        let expired = report.expired == 0 ? [] : ["gave up \(report.expired) letters that did not verify"]
        let (counters, keys) = (round.usage.counters, round.usage.keys)
        let usage = counters + keys == 0 ? [] : ["threw away \(counters) counters of usage and \(keys) keys"]
        let (attempts, consents) = (round.histories.attempts, round.histories.consents)
        let histories =
            attempts + consents == 0
            ? [] : ["threw away \(attempts) attempts to buy and \(consents) superseded consents"]
        let (old, removed) = (round.deliveries.deliveries, round.deliveries.endpoints)
        let deliveries =
            old + removed == 0 ? [] : ["threw away \(old) old deliveries and \(removed) removed endpoints"]
        let failures = report.failures.map { "failed: \($0.step): \($0.error)" }
        let lines = [made] + expired + report.days.map(Self.line) + settled + usage + histories + deliveries + failures
        self.init(round, Self.round, text: lines.joined(separator: "\n"))
    }

    private static let round = CommandShape<MaintenanceRound>([
        .init("made", \.outbox.made), .list("days", day, \.outbox.days), .init("settled", \.outbox.settled),
        .init("expired", \.outbox.expired),
        .init("usage") { ["counters": $0.usage.counters.json, "keys": $0.usage.keys.json] as JSONValue },
        .init("histories") {
            [
                "attempts": $0.histories.attempts.json, "consents": $0.histories.consents.json,
                "budgets": $0.histories.budgets.json, "evidence": $0.histories.evidence.json,
                "jobs": $0.histories.jobs.json, "searches": $0.histories.searches.json,
            ] as JSONValue
        },
        .init("deliveries") {
            ["deliveries": $0.deliveries.deliveries.json, "endpoints": $0.deliveries.endpoints.json] as JSONValue
        },
        .list("failures", failure, \.outbox.failures),
    ])

    private static let day = CommandShape<MaintenanceReport.Day>([
        .init("day", \.day), .init("outcome", \.outcome.rawValue), .init("gone", \.gone), .init("kept", \.kept),
    ])

    private static let failure = CommandShape<MaintenanceReport.Failure>([
        .init("step", \.step), .init("error") { "\($0.error)" },
    ])

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
