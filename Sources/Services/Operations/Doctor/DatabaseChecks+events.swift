import EventStore
import Postgres

extension DatabaseChecks {
    /// Limits of the alert StorehookTellingBehind: how late a due event may be, and how many events may have no place.
    private static let tellingTolerance = (late: Duration.seconds(300), unplaced: Int64(100_000))

    /// Whether events are written in time and readers see them.
    func events() async throws -> Finding.Answer {
        let events = EventStore(pool)
        let status = try await events.status()
        if status.dueFor > Self.tellingTolerance.late {
            return .failed(
                "the change that is due first has waited \(status.dueFor.age) for its event: is a worker running, and is the queue short? See "
                    + "StorehookTellingBehind in deploy/runbook.md")
        }
        guard status.unplaced <= Self.tellingTolerance.unplaced else {
            return .failed(
                "\(status.unplaced) events have no place so far, so that no reader sees them: is a worker running? See "
                    + "StorehookTellingBehind in deploy/runbook.md")
        }
        let held = try await events.checkAccounts()
        if held.differing > 0 {
            return .failed(
                "the last event of \(held.differing) of \(held.looked) accounts says something else than their status: storehook "
                    + "rebuild --check names them, and storehook rebuild reports what is missing")
        }
        if held.overdue > 0 {
            return .failed(
                "\(held.overdue) purchases and accounts of a history that was fetched whole are not reported: is a worker running?"
            )
        }
        return .ok("no event is late")
    }

    /// How long an event may wait for an endpoint: as the alert StorehookDeliveriesLate has it.
    private static let deliveryTolerance = Duration.seconds(900)

    /// Whether events arrive.
    func endpoints() async throws -> Finding.Answer {
        let standings = try await EndpointStore(pool).glance()
        guard !standings.isEmpty else { return .ok("there is none; see storehook endpoints add") }
        let troubles = standings.compactMap { standing -> String? in
            switch standing.state {
            case .paused: "\(standing.endpointID) fails (\(standing.lastFailure ?? "-"))"
            case .disabled where standing.reason == "gone" || standing.reason == "failing":
                "\(standing.endpointID) is disabled (\(standing.reason ?? ""))"
            case .disabled: nil
            case .enabled where standing.oldestAge > Self.deliveryTolerance:
                "events wait for \(standing.endpointID) since \(standing.oldestAge.age)"
            case .enabled where standing.dead > 0:
                "\(standing.hasMoreDead ? "more than " : "")\(standing.dead) dead deliveries to \(standing.endpointID)"
            case .enabled: nil
            }
        }
        guard troubles.isEmpty else {
            return .failed(
                troubles.joined(separator: "; ")
                    + ": storehook endpoints list, storehook events deliveries --outcome dead")
        }
        return .ok("\(standings.count) get what they want")
    }
}
