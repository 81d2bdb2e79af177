import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import Base
import EventStore
import HTTPTypes
import Postgres
import PurchaseStore
import Staff

extension AdminHandlers {
    /// Where events are posted to.
    var endpointList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/endpoints", "listEndpoints",
            "Where events are posted to, how that fares and what waits; never a secret. To staff of some apps, the endpoints for events of one of these alone.",
            for: .staff,
            successes: [endpointPages(.all, nil, nil).success("EndpointPage", "A page of endpoints.")]
        ) { request in
            let member = try await member(request, for: .read)
            let state = request.query["state"].flatMap { Endpoint.State(rawValue: $0) }
            return try await endpointPages(member.scope, state, request.query["app"]).answer(request, self)
        }
        endpoint.query =
            AdminList<ShownAdminEndpoint>.query + Opening.query + [
                .init("state", AdminShapes.endpointStates, "Only in this state."),
                .init(
                    "app", .string(.init(1, 255)),
                    "Only those that get events of this app (bundle id): of this one alone, or of all."),
            ]
        endpoint.refusesFitting = "after is next of a page before, a file of opened texts has a reason"
        return endpoint
    }

    private func endpointPages(
        _ scope: StaffScope, _ state: Endpoint.State?, _ app: String?
    ) -> AdminList<ShownAdminEndpoint> {
        AdminList(
            name: "endpoints", shape: AdminShapes.endpoint, subject: ("endpoints", "list"), cursorParts: 1,
            takes: { Int64($0.parts[0]) != nil }, openedTexts: { $0.openedTexts }
        ) { [endpointStore] opening, cursor, limit in
            let after = cursor.flatMap { Int64($0.parts[0]) } ?? 0
            let rest = try await endpointStore.list().filter {
                $0.id > after && scope.sees(app: $0.filter.bundleID) && (state ?? $0.state) == $0.state
                    && (app == nil || $0.filter.bundleID == nil || $0.filter.bundleID == app)
            }
            let page = rest.prefix(limit)
            let standings = try await page.isEmpty ? [] : endpointStore.glance(at: page.map(\.id))
            return ListPage(
                page.map { endpoint in
                    ShownAdminEndpoint(endpoint, standings.first { $0.endpointID == endpoint.id }, opening)
                }, next: rest.count > limit ? page.last.map { ListCursor(behind: ["\($0.id)"]) } : nil)
        }
    }

    /// One of them.
    var endpointShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/endpoints/{id}", "getEndpoint",
            "An endpoint, how it fares, what waits for it, and what became of its deliveries in the last 24 hours.",
            for: .staff, successes: [.init("The endpoint.", AdminShapes.endpointDetail.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            let found = try await endpointOfPath(request, member)
            let opening = try await Opening(request, isExport: false, of: ("endpoint", "\(found.id)"), self)
            let standing = try await endpointStore.glance(at: [found.id]).first
            let shown = ShownAdminEndpoint(found, standing, opening)
            let recent = try await endpointStore.recent(of: found.id)
            try await opening.note(shown.openedTexts)
            return APIAnswer(.ok, AdminShapes.endpointDetail.value(of: (shown, recent, secrets)))
        }
        endpoint.pathSchemas = Self.endpointPath
        endpoint.query = Opening.query
        endpoint.problems = [.noEndpoint]
        return endpoint
    }

    /// One delivery.
    var deliveryShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/deliveries/{id}", "getDelivery",
            "A delivery of an event to an endpoint, with each call that was made for it and what the endpoint said.",
            for: .staff, successes: [.init("The delivery.", AdminShapes.deliveryDetail.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            let instant = try Self.instant("at", request)
            let found = try await deliveryOfPath(request, member, at: instant)
            let opening = try await Opening(request, isExport: false, of: ("delivery", "\(found.id)"), self)
            let calls = try await endpointStore.attempts(at: found, by: instant)
            let detail = ShownDeliveryDetail(found, calls, opening)
            try await opening.note(detail.openedTexts)
            return APIAnswer(.ok, AdminShapes.deliveryDetail.value(of: detail))
        }
        endpoint.pathSchemas = Self.endpointPath
        endpoint.query = Opening.query + [Self.deliveriesAt]
        endpoint.problems = [.noDelivery]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    private static let deliveriesAt = at(
        "Those of events that had been written by this instant, such as 2026-01-31T12:00:00Z, in the state of then; now by default. The list leaves out what an endpoint was dealt later, as it was disabled or behind. One that was sent again is there since it was put back or, where that has no date, since its first call. nextAttemptAt is left out, and attempts where no calls are on record."
    )

    /// What waits for endpoints, what arrived and what was given up.
    var deliveryList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/deliveries", "listDeliveries",
            "Deliveries of events to endpoints, the latest first: what waits, what arrived and what was given up. To staff of some apps, those of events of these.",
            for: .staff,
            successes: [
                deliveryPages(EventSelection(), nil, nil).success("DeliveryPage", "A page of deliveries.")
            ]
        ) { try await answerDeliveries($0) }
        endpoint.query =
            AdminList<ShownDelivery>.query + Opening.query + [
                .init("endpoint", .integer(1...Int64(Int32.max)), "Only to this endpoint, by its number."),
                .init("event", .string(.init(1, 30)), "Only of this event, by what receivers know it by: evt_42."),
                .init(
                    "account", .string(.init(1, 1000)),
                    "Only of events of this account: its id, or token: and its appAccountToken."),
                .init(
                    "outcome", .choice(DeliveryRecord.Outcome.allCases.map(\.rawValue)),
                    "Only those that wait, arrived, or were given up."),
                .init("from", .string(.init(1, 40)), "Only of events written from this instant on."),
                .init("to", .string(.init(1, 40)), "Only of events written before this instant."), Self.deliveriesAt,
            ]
        endpoint.refusesFitting =
            "after is next of a page before, event and account name one, from, to and at are instants, a file of opened texts has a reason"
        return endpoint
    }

    private func answerDeliveries(_ request: AdminRequest) async throws -> APIAnswer {
        let member = try await member(request, for: .read)
        var selection = EventSelection()
        selection.endpointID = request.query["endpoint"].flatMap { Int64($0) }
        if let text = request.query["event"] {
            guard let id = Delivery.eventID(text) else {
                throw APIProblem(.invalidRequest, "event takes evt_ and a number")
            }
            selection.eventIDs = [id]
        }
        if let text = request.query["account"] { selection.token = try await namedAccount(text).token }
        selection.since = try Self.instant("from", request).map { PostgresTimestamp($0) }
        selection.until = try Self.instant("to", request).map { PostgresTimestamp($0) }
        selection.at = try Self.instant("at", request)
        var apps: [String]?
        if case .some(let own) = member.scope { apps = own.sorted() }
        let outcome = request.query["outcome"].flatMap { DeliveryRecord.Outcome(rawValue: $0) }
        return try await deliveryPages(selection, outcome, apps).answer(request, self)
    }

    private func deliveryPages(
        _ selection: EventSelection, _ outcome: DeliveryRecord.Outcome?, _ apps: [String]?
    ) -> AdminList<ShownDelivery> {
        AdminList(
            name: "deliveries", shape: AdminShapes.delivery, subject: ("deliveries", "list"),
            cursorParts: EndpointStore.deliveryCursorParts, takes: { Int64($0.parts[0]) != nil },
            openedTexts: { $0.openedTexts }
        ) { [endpointStore] opening, cursor, limit in
            try await endpointStore.deliveries(
                selection, outcome: outcome, of: apps, after: cursor, limit: limit,
                lookingThrough: max(BoundedListing.mostLookedThrough, limit)
            ).map { ShownDelivery($0, opening) }
        }
    }
}
