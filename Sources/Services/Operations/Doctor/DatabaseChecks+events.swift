import EventStore
import Postgres

extension DatabaseChecks {
    /// How long what is due may go untold, and how many events may be without a place: as the alert StorehookTellingBehind has it.
    private static let tellingTolerance = (late: Duration.seconds(300), unplaced: Int64(100_000))

    /// Whether what comes to be is told, and readers see it.
    func events() async throws -> Finding {
        let status = try await EventStore(pool).status()
        if status.dueFor > Self.tellingTolerance.late {
            return .failed(
                "events",
                "what is due first has not been told for \(status.dueFor.age): is a worker running, and is the queue short? See "
                    + "StorehookTellingBehind in deploy/runbook.md")
        }
        guard status.unplaced <= Self.tellingTolerance.unplaced else {
            return .failed(
                "events",
                "\(status.unplaced) events have no place so far, so that no reader sees them: is a worker running? See "
                    + "StorehookTellingBehind in deploy/runbook.md")
        }
        return .ok("events", "nothing is told late")
    }
}
