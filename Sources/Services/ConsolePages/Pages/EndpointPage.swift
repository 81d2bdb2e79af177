import APIKit
import AppStorePayloads
import Base
import Staff

/// One endpoint: how it fares, a test, and another secret.
struct EndpointPage: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    private let id: String

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
        id = call.part("id")
    }

    private var here: Place { Place("endpoints", id) }

    /// The page.
    /// - Parameters:
    ///   - problem: why something was not done.
    ///   - first: what was done, before everything else.
    func content(
        isOpened: Bool = false, _ problem: APIProblem? = nil, after first: [Block] = []
    ) async throws -> PageContent {
        let endpoint = try await call.ask("getEndpoint", path: ["id": id], ["open": isOpened ? "true" : nil])
        let deliveries = try await call.ask(
            "listDeliveries", ["endpoint": id, "limit": "10", "open": isOpened ? "true" : nil])
        var blocks: [Block] = problem.map { [.note(ErrorPage.sentence($0, speaker), .bad)] } ?? []
        blocks += first
        blocks.append(.facts(facts(endpoint)))
        blocks.append(.facts(recent(endpoint)))
        blocks += Opening.form(
            call, at: here, isOpened, if: endpoint.string("reason") == nil ? [] : [endpoint])
        blocks.append(.table(EndpointPages.table(deliveries, of: id, speaker)))
        if call.may(.changeEndpoints) { blocks += acts(endpoint.string("newSecrets") ?? "made") }
        var content = PageContent(
            "\(speaker.word("endpoint")) \(id)", blocks,
            commands: [
                CommandLine.text(["endpoints", "list"]), CommandLine.text(["endpoints", "test", id]),
                CommandLine.text(["endpoints", "rotate", id]),
            ])
        if let problem { content.status = problem.code.status }
        return content
    }

    private func facts(_ endpoint: JSONObject) -> PageFacts {
        var facts: [(label: String, value: Shown)] = []
        func add(_ word: String, _ value: Shown) { facts.append((speaker.word(word), value)) }
        add("endpoint_url", endpoint.words("url"))
        add("status", endpoint.standing("state", of: "endpoint_state"))
        add("reason", endpoint.words("reason"))
        add("app", .text(endpoint.string("bundleId") ?? speaker.word("all_apps")))
        add("environment", endpoint.standing("environment", of: "environment"))
        add("events_of", .all((endpoint.strings("kinds") ?? []).map { .code($0) }))
        add("rate", endpoint.count("rate"))
        add("in_flight", endpoint.count("inFlight"))
        add("failures", endpoint.count("failures"))
        add("failing_since", endpoint.at("failingSince"))
        add("last_failure", endpoint.words("lastFailure"))
        add("paused_at", endpoint.at("pausedAt"))
        add("former_secret_ends", endpoint.at("formerSecretEndsAt"))
        add("created", endpoint.at("createdAt"))
        add("by", endpoint.words("createdBy"))
        return PageFacts(facts)
    }

    private func recent(_ endpoint: JSONObject) -> PageFacts {
        func deliveries(_ outcome: String) -> Place {
            Place("deliveries", query: ["endpoint": id, "outcome": outcome])
        }
        var facts: [(label: String, value: Shown)] = [
            (speaker.word("recent_share"), .part(endpoint.integer("recentShare"))),
            (speaker.word("recent_delivered"), endpoint.count("recentDelivered").leading(to: deliveries("delivered"))),
            (speaker.word("recent_dead"), endpoint.count("recentDead").leading(to: deliveries("dead"))),
            (
                speaker.word("accounts_waiting"),
                EndpointPages.counted(endpoint, "waitingAccounts", "hasMoreWaiting", speaker)
                    .leading(to: deliveries("waiting"))
            ),
            (speaker.word("events_behind"), endpoint.count("behind")),
            (speaker.word("oldest_seconds"), endpoint.count("oldestAgeSeconds")),
            (
                speaker.word("given_up"),
                EndpointPages.counted(endpoint, "dead", "hasMoreDead", speaker).leading(to: deliveries("dead"))
            ),
        ]
        if endpoint.bool("recentIsMore") == true {
            facts.append((speaker.word("notes"), .text(speaker.word("recent_bound"))))
        }
        return PageFacts(speaker.word("recent"), style: .cards, facts)
    }

    // MARK: Acts

    /// - Parameter secrets: whether the console makes new ones.
    private func acts(_ secrets: String) -> [Block] {
        let event = PageForm.Field(
            "event", speaker.word("event"), .line(most: 30), call.sent("event"), hint: speaker.word("test_event"))
        let hours = PageForm.Field(
            "hours", speaker.word("rotate_hours"), .number(1...720), call.sent("hours") ?? "24", isRequired: true)
        let atOnce = PageForm.Field(
            "atOnce", speaker.word("rotate_at_once"), .check, call.sent("atOnce"),
            hint: speaker.word("rotate_at_once_about"))
        let test = PageForm.act(
            speaker.word("endpoint_act.test"), Place("endpoints", id, "test"), [event] + Reason.fields(call),
            speaker.word("endpoint_act.test"), about: speaker.word("endpoint_about.test"),
            hidden: ["once": SentForms.number()])
        guard secrets == "made" else {
            let isFault = secrets == "unusable_key"
            return [
                .form(test), .note(speaker.word(of: "no_secrets", secrets), isFault ? .warning : .calm),
            ]
        }
        let rotate = PageForm.act(
            speaker.word("endpoint_act.rotate"), Place("endpoints", id, "rotate"),
            [hours, atOnce] + Reason.fields(call), speaker.word("endpoint_act.rotate"),
            about: speaker.word("endpoint_about.rotate"), hidden: ["once": SentForms.number()], isDangerous: true)
        return [.form(test), .form(rotate)]
    }

    /// Has a worker post a test, and shows what came back.
    func test() async throws -> PageOutcome {
        try await doing {
            let trial = try await call.send(
                "testEndpoint", path: ["id": id],
                [
                    "event": call.sent("event").map { JSONValue.string($0) },
                    "reason": .string(try Reason.sent(call)),
                ])
            let isDelivered = trial.bool("delivered") == true
            let word = trial.string("outcome") == nil ? "test_under_way" : isDelivered ? "test_good" : "test_bad"
            return [
                .note(speaker.word(word), isDelivered ? .good : .warning),
                .facts(
                    PageFacts([
                        (speaker.word("event"), trial.id("event")), (speaker.word("outcome"), trial.id("outcome")),
                        (speaker.word("status"), trial.count("status")),
                        (speaker.word("milliseconds"), trial.count("milliseconds")),
                        (speaker.word("message"), trial.words("message")),
                    ])),
            ]
        }
    }

    /// Gives it another secret, which stands on the answer to the form alone, and so is shown once.
    func rotate() async throws -> PageOutcome {
        try await doing {
            let isAtOnce = call.sent("atOnce") == "yes"
            var hours: JSONValue?
            if !isAtOnce { hours = .integer(try Number.sent("hours", call)) }
            let made = try await call.send(
                "rotateEndpoint", path: ["id": id],
                ["hours": hours, "atOnce": .bool(isAtOnce), "reason": .string(try Reason.sent(call))])
            return [
                .note(speaker.word("secret_once"), .warning),
                .facts(
                    PageFacts([
                        (speaker.word("secret"), .code(made.string("secret") ?? "")),
                        (speaker.word("former_secret_ends"), made.at("formerSecretEndsAt")),
                    ])),
            ]
        }
    }

    /// What cannot be done is shown beside the forms.
    private func doing(_ body: () async throws -> [Block]) async throws -> PageOutcome {
        do {
            let done = try await body()
            // It is done, and a secret is shown once: also where the rest of the page cannot be read now.
            let page = try? await content(after: done)
            return .page(page ?? PageContent("\(speaker.word("endpoint")) \(id)", done))
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await content(isOpened: false, problem))
        }
    }
}

/// One delivery, and what sends it again.
struct DeliveryPage: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    private let id: String

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
        id = call.part("id")
    }

    private var here: Place { Place("deliveries", id) }

    /// The page.
    /// - Parameter problem: why it was not sent again.
    func content(isOpened: Bool = false, _ problem: APIProblem? = nil) async throws -> PageContent {
        let delivery = try await call.ask("getDelivery", path: ["id": id], ["open": isOpened ? "true" : nil])
        var blocks: [Block] = problem.map { [.note(ErrorPage.sentence($0, speaker), .bad)] } ?? []
        if call.value("done") == "resend" { blocks.append(.note(speaker.word("delivery_resent"), .good)) }
        blocks.append(.facts(facts(delivery)))
        let history = delivery.objects("history")
        let hasText = delivery.string("account") != nil || history.contains { $0.string("answer") != nil }
        blocks += Opening.form(call, at: here, isOpened, if: hasText ? [delivery] : [])
        blocks.append(.table(calls(history)))
        if call.may(.changeEndpoints), delivery.string("outcome") != "waiting" { blocks.append(.form(form())) }
        let event = delivery.string("event") ?? ""
        var content = PageContent(
            "\(speaker.word("delivery")) \(id)", blocks,
            commands: [
                CommandLine.text(
                    ["events", "resend", event], [("endpoint", delivery.integer("endpoint").map { "\($0)" })])
            ])
        if let problem { content.status = problem.code.status }
        return content
    }

    private func facts(_ delivery: JSONObject) -> PageFacts {
        let (event, endpoint) = (delivery.string("event"), delivery.integer("endpoint"))
        let (token, purchase) = (delivery.string("appAccountToken"), delivery.string("originalTransactionId"))
        let name = delivery.string("account") ?? token.map { String($0.prefix(8)) }
        var facts: [(label: String, value: Shown)] = []
        func add(_ word: String, _ value: Shown) { facts.append((speaker.word(word), value)) }
        add("outcome", delivery.standing("outcome", of: "delivery_outcome"))
        add("event", Shown.id(event).leading(to: event.map { Place("deliveries", query: ["event": $0]) }))
        add("type", delivery.words("type"))
        add("endpoint", Shown.count(endpoint).leading(to: endpoint.map { Place("endpoints", "\($0)") }))
        add("customer", Shown.words(name).leading(to: token.map { Place("customers", $0) }))
        add(
            "original_transaction",
            Shown.id(purchase).leading(to: purchase.map { Place("orders", query: ["search": $0]) }))
        add("app", delivery.words("bundleId"))
        add("environment", delivery.standing("environment", of: "environment"))
        add("sequence", delivery.count("sequence"))
        add("attempts", delivery.count("attempts"))
        add("last_answer", .all([delivery.count("status"), delivery.words("reason")].filter { $0 != .nothing }))
        add("event_written", delivery.at("writtenAt"))
        add("ended", delivery.at("endedAt"))
        add("next_attempt", delivery.at("nextAttemptAt"))
        add("resent_at", delivery.at("resentAt"))
        return PageFacts(facts)
    }

    /// The calls, each with what the endpoint said: a stranger's text.
    private func calls(_ history: [JSONObject]) -> PageTable {
        PageTable(
            speaker.word("calls_made"),
            [
                .text(speaker.word("when")), .number(speaker.word("milliseconds")), .text(speaker.word("outcome")),
                .number(speaker.word("status")), .text(speaker.word("endpoint_said")),
            ],
            history.map { made in
                [
                    made.at("at"), made.count("milliseconds"), made.id("outcome"), made.count("status"),
                    made.words("answer"),
                ]
            }, empty: speaker.word("no_calls"))
    }

    private func form() -> PageForm {
        .act(
            speaker.word("delivery_resend"), Place("deliveries", id, "resend"), Reason.fields(call),
            speaker.word("delivery_resend"), about: speaker.word("delivery_resend_about"),
            hidden: ["once": SentForms.number()])
    }

    /// Sends it again, and shows it as it is then.
    func resend() async throws -> PageOutcome {
        do {
            _ = try await call.send("resendDelivery", path: ["id": id], ["reason": .string(try Reason.sent(call))])
            return .redirect(here.with("done", "resend"))
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await content(isOpened: false, problem))
        }
    }
}
