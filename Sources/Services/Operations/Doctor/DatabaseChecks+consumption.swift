import AppleRecords
import Base
import Postgres

extension DatabaseChecks {
    /// How much time has to be left: the alert's.
    private static let consumptionTolerance = Duration.seconds(2 * 3600)

    /// Whether Apple's requests for consumption data are answered in time.
    func consumption() async throws -> Finding {
        let name = "consumption requests"
        let statuses = try await ConsumptionRequests(pool).statuses()
        let faults = statuses.compactMap(Self.fault)
        guard faults.isEmpty else { return .failed(name, faults.joined(separator: "; ")) }
        let open = statuses.reduce(0) { $0 + $1.open }
        let wanted = statuses.reduce(0) { $0 + $1.wanted }
        return .ok(name, open == 0 ? "none is open" : "\(open) open, \(wanted) of them to be answered, and in time")
    }

    private static func fault(_ status: ConsumptionStatus) -> String? {
        let place = "\(status.scope.bundleID) \(status.scope.environment)"
        if let left = status.timeLeft, left < consumptionTolerance {
            let time = left > .zero ? "in \(left.age)" : "now"
            return
                "\(place): the deadline of the first of \(status.wanted) to be answered is \(time)"
                + (status.why.map { " (\($0))" } ?? "") + "; see StorehookConsumptionDeadline in deploy/runbook.md"
        }
        let troubles = [
            ("late", status.late), ("refused by Apple", status.refused), ("unknown to have arrived", status.unknown),
        ]
        .filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        guard !troubles.isEmpty else { return nil }
        return "\(place): within a day \(troubles.joined(separator: ", ")): storehook consumption list"
    }
}
