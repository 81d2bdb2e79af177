import EventStore
import Postgres

extension DatabaseChecks {
    /// How long an event may wait for an endpoint: as the alert StorehookDeliveriesLate has it.
    private static let deliveryTolerance = Duration.seconds(900)

    /// Whether events arrive.
    func endpoints() async throws -> Finding {
        let standings = try await EndpointStore(pool).standings()
        guard !standings.isEmpty else { return .ok("endpoints", "there is none; see storehook endpoints add") }
        let troubles = standings.compactMap { standing -> String? in
            switch standing.state {
            case .paused: "\(standing.endpointID) fails (\(standing.lastFailure ?? "-"))"
            case .disabled where standing.reason == "gone" || standing.reason == "failing":
                "\(standing.endpointID) is disabled (\(standing.reason ?? ""))"
            case .disabled: nil
            case .enabled where standing.oldestAge > Self.deliveryTolerance:
                "events wait for \(standing.endpointID) since \(standing.oldestAge.age)"
            case .enabled: standing.dead > 0 ? "\(standing.dead) dead deliveries to \(standing.endpointID)" : nil
            }
        }
        guard troubles.isEmpty else {
            return .failed(
                "endpoints",
                troubles.joined(separator: "; ")
                    + ": storehook endpoints list, storehook events deliveries --outcome dead")
        }
        return .ok("endpoints", "\(standings.count) get what they want")
    }
}
