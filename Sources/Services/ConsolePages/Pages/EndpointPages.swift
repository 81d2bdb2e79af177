import AdminAPI
import AppStorePayloads
import Base

/// Where events are posted to, and what becomes of each delivery.
enum EndpointPages {
    static var pages: [Page] {
        let others: [Page] = [
            .get("/endpoints/{id}", "endpoint", in: .service) { .page(try await EndpointPage($0).content()) },
            .post("/endpoints/{id}", "endpoint_opened", in: .service) {
                .page(try await EndpointPage($0).content(isOpened: true))
            },
            .post("/endpoints/{id}/test", "endpoint_test", in: .service) { try await EndpointPage($0).test() },
            .post("/endpoints/{id}/rotate", "endpoint_rotate", in: .service) { try await EndpointPage($0).rotate() },
            .get("/deliveries/{id}", "delivery", in: .service) { .page(try await DeliveryPage($0).content()) },
            .post("/deliveries/{id}", "delivery_opened", in: .service) {
                .page(try await DeliveryPage($0).content(isOpened: true))
            },
            .post("/deliveries/{id}/resend", "delivery_resend", in: .service) { try await DeliveryPage($0).resend() },
        ]
        return endpoints.pages("endpoints", in: .service) {
            PageList.Around(above: [SubPages.service("endpoints", $0)])
        }
            + deliveries.pages("deliveries", in: .service) {
                PageList.Around(above: [SubPages.service("deliveries", $0)])
            } + others
    }

    /// The latest deliveries to an endpoint.
    static func table(_ answer: JSONObject, of endpoint: String, _ speaker: Speaker) -> PageTable {
        var table = PageTable(
            speaker.word(of: "list", "deliveries"), deliveries.columns(speaker),
            answer.objects("deliveries").map { deliveries.row($0, speaker) }, empty: speaker.word("no_deliveries"))
        table.next = answer.string("next").map { Place("deliveries", query: ["endpoint": endpoint, "after": $0]) }
        return table
    }

    private static let endpoints = PageList(
        endpoint: "listEndpoints", rows: "endpoints", place: "endpoints", filters: ["state", "app"],
        saved: .endpoints, texts: ["reason"],
        empty: { $0.word("no_endpoints") },
        columns: { speaker in
            [
                .text(speaker.word("number")), .text(speaker.word("endpoint_url")), .text(speaker.word("status")),
                .text(speaker.word("events_of")), .number(speaker.word("rate")), .number(speaker.word("failures")),
                .text(speaker.word("last_failure")), .text(speaker.word("paused_at")),
                .number(speaker.word("accounts_waiting")), .number(speaker.word("events_behind")),
                .number(speaker.word("oldest_seconds")), .number(speaker.word("given_up")),
                .text(speaker.word("created")),
            ]
        }, row: { endpoint, speaker in row(ofEndpoint: endpoint, speaker) },
        fields: { call in
            [
                .states(
                    "state", call.speaker.word("status"), "endpoint_state", ["enabled", "paused", "disabled"],
                    call.value("state"), call.speaker),
                .line("app", call.speaker.word("app"), call.value("app")),
            ]
        },
        commands: { _ in [CommandLine.text(["endpoints", "list"])] })

    /// A number that has a bound: `more than 10,000`.
    static func counted(
        _ endpoint: JSONObject, _ name: StaticString, _ more: StaticString, _ speaker: Speaker
    ) -> Shown {
        guard let count = endpoint.integer(name), endpoint.bool(more) == true else { return endpoint.count(name) }
        return .text(speaker.word("more_than", ["number": speaker.number(count)]))
    }

    private static func row(ofEndpoint endpoint: JSONObject, _ speaker: Speaker) -> [Shown] {
        let id = endpoint.integer("id").map { "\($0)" }
        func deliveries(_ outcome: String) -> Place? {
            id.map { Place("deliveries", query: ["endpoint": $0, "outcome": outcome]) }
        }
        let state = [endpoint.standing("state", of: "endpoint_state"), endpoint.words("reason")]
            .filter { $0 != .nothing }
        var events = [Shown.text(endpoint.string("bundleId") ?? speaker.word("all_apps"))]
        if let environment = endpoint.string("environment") { events.append(.state("environment", environment)) }
        events += (endpoint.strings("kinds") ?? []).map { .code($0) }
        return [
            Shown.words(id).leading(to: id.map { Place("endpoints", $0) }),
            endpoint.words("url"), .all(state), .all(events), endpoint.count("rate"), endpoint.count("failures"),
            endpoint.words("lastFailure"), endpoint.at("pausedAt"),
            counted(endpoint, "waitingAccounts", "hasMoreWaiting", speaker).leading(to: deliveries("waiting")),
            endpoint.count("behind"), endpoint.count("oldestAgeSeconds"),
            counted(endpoint, "dead", "hasMoreDead", speaker).leading(to: deliveries("dead")),
            .all([endpoint.at("createdAt"), endpoint.words("createdBy")]),
        ]
    }

    /// Without the filter by account, which may be a person's id: a customer's page leads to deliveries by its events.
    private static let deliveries = PageList(
        endpoint: "listDeliveries", rows: "deliveries", place: "deliveries",
        filters: ["endpoint", "event", "outcome", "from", "to"], saved: .deliveries, instants: ["from", "to"],
        texts: ["account"],
        empty: { $0.word("no_deliveries") },
        columns: { speaker in
            [
                .number(speaker.word("number")), .text(speaker.word("event")), .text(speaker.word("type")),
                .text(speaker.word("endpoint")),
                .text(speaker.word("outcome")), .number(speaker.word("attempts")), .text(speaker.word("last_answer")),
                .text(speaker.word("customer")), .text(speaker.word("original_transaction")),
                .text(speaker.word("event_written")), .text(speaker.word("ended")), .text(speaker.word("next_attempt")),
            ]
        }, row: { delivery, _ in row(ofDelivery: delivery) },
        fields: { call in
            let speaker = call.speaker
            return [
                PageForm.Field(
                    "endpoint", speaker.word("endpoint"), .number(1...Int64(Int32.max)), call.value("endpoint")),
                .line("event", speaker.word("event"), call.value("event"), most: 30),
                .states(
                    "outcome", speaker.word("outcome"), "delivery_outcome", ["waiting", "delivered", "dead"],
                    call.value("outcome"), speaker),
                PageList.time("from", speaker.word("from"), call), PageList.time("to", speaker.word("to"), call),
            ]
        },
        commands: { call in
            [
                CommandLine.text(
                    ["events", "deliveries"],
                    [("endpoint", call.value("endpoint")), ("at", call.speaker.instant?.description)])
            ]
        })

    private static func row(ofDelivery delivery: JSONObject) -> [Shown] {
        let (event, token) = (delivery.string("event"), delivery.string("appAccountToken"))
        let name = delivery.string("account") ?? token.map { String($0.prefix(8)) }
        let answer: [Shown] = [delivery.count("status"), delivery.words("reason")].filter { $0 != .nothing }
        let purchase = delivery.string("originalTransactionId")
        let (id, endpoint) = (delivery.integer("id"), delivery.integer("endpoint"))
        return [
            Shown.count(id).leading(to: id.map { Place("deliveries", "\($0)") }),
            Shown.id(event).leading(to: event.map { Place("deliveries", query: ["event": $0]) }),
            delivery.words("type"),
            Shown.count(endpoint).leading(to: endpoint.map { Place("endpoints", "\($0)") }),
            delivery.standing("outcome", of: "delivery_outcome"), delivery.count("attempts"), .all(answer),
            Shown.words(name).leading(to: token.map { Place("customers", $0) }),
            Shown.id(purchase).leading(to: purchase.map { Place("orders", query: ["search": $0]) }),
            delivery.at("writtenAt"), delivery.at("endedAt"), delivery.at("nextAttemptAt"),
        ]
    }
}
