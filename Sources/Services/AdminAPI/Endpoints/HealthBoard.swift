import Base
import Foundation
import Operations

/// What the checks of the database have found: once a minute at most they are made anew, however many ask.
actor HealthBoard {
    /// What was found.
    struct Report: Sendable {
        /// A finding for each check.
        let findings: [Finding]
        /// When the checks were done.
        let checkedAt: Timestamp
    }

    /// For how long a report is answered.
    private static let validity = Duration.seconds(60)

    private let check: @Sendable () async -> [Finding]
    private var latest: (report: Report, validUntil: ContinuousClock.Instant)?
    private var running: Task<Report, Never>?

    /// - Parameter check: makes the checks.
    init(_ check: @escaping @Sendable () async -> [Finding]) { self.check = check }

    /// The latest report. Those who ask while checks are made wait for the same.
    func report() async -> Report {
        if let latest, ContinuousClock.now < latest.validUntil { return latest.report }
        if let running { return await running.value }
        let task = Task { [check] in
            let findings = await check()
            let now = Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970 * 1000))
            return Report(findings: findings, checkedAt: now)
        }
        running = task
        let report = await task.value
        latest = (report, ContinuousClock.now + Self.validity)
        running = nil
        return report
    }
}
