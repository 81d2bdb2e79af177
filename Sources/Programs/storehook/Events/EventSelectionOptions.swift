import Accounts
import ArgumentParser
import Base
import EventStore
import Postgres
import PurchaseStore

/// Selects events, or deliveries of them.
struct EventSelectionOptions: ParsableArguments {
    @Argument(help: "The events, by what receivers know them by (evt_42).") var ids: [String] = []
    @Option(help: "Those of this account: its id, or token: and its appAccountToken.") var account: AccountReference?
    @Option(help: "Only those from this instant on: 2026-01-31 or 2026-01-31T12:00:00Z.", transform: Timestamp.argument)
    var since: Timestamp?
    @Option(help: "Only those before this instant.", transform: Timestamp.argument) var until: Timestamp?
    @Option(help: "To this endpoint alone, by its number.") var endpoint: Int64?

    func validate() throws {
        try account?.validate()
        for id in ids { _ = try Self.eventID(id) }
    }

    /// The number of an event, by what receivers know it by.
    static func eventID(_ text: String) throws -> Int64 {
        guard let id = Delivery.eventID(text) else {
            throw ValidationError("\(text.prefix(40)) names no event; write evt_ and a number")
        }
        return id
    }

    /// Refuses an endpoint and events that there are not.
    func refuseUnknown(_ store: EndpointStore) async throws {
        if let endpoint, try await store.find(endpoint) == nil { throw EndpointsCommand.unknown(endpoint) }
        guard !ids.isEmpty else { return }
        let unknown = try await store.unknownEvents(ids.compactMap { Delivery.eventID($0) })
        guard let first = unknown.first else { return }
        let others = unknown.count > 1 ? " and \(unknown.count - 1) more of those named" : ""
        throw CommandFailure(
            "there is no event \(Delivery.webhookID(first))\(others), or it is not kept any more; see storehook events list"
        )
    }

    /// Whether it selects by anything but the endpoint.
    var namesEvents: Bool { !ids.isEmpty || account != nil || since != nil || until != nil }

    func selection(_ pool: PostgresPool, _ settings: Settings) async throws -> EventSelection {
        EventSelection(
            eventIDs: ids.isEmpty ? nil : ids.compactMap { Delivery.eventID($0) },
            token: try await Database.token(account, pool, settings),
            since: since.map { PostgresTimestamp($0) },
            until: until.map { PostgresTimestamp($0) }, endpointID: endpoint)
    }
}
