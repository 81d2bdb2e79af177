import APIKit
import AdminAPI
import AppStorePayloads
import Base
import Staff

/// Extensions of renewal dates by Apple: the list, and each with how far it has come.
enum ExtensionPages {
    static var pages: [Page] {
        let others: [Page] = [
            .get("/extensions/{id}", "extension", in: .service) { .page(try await content($0)) },
            .post("/extensions/{id}", "extension_opened", in: .service) {
                .page(try await content($0, isOpened: true))
            },
            .post("/extensions/{id}/close", "extension_close", in: .service) { try await close($0) },
        ]
        return list.pages("extensions", in: .service) {
            PageList.Around(above: [SubPages.service("extensions", $0)])
        } + others
    }

    private static let list = PageList(
        endpoint: "listExtensions", rows: "extensions", place: "extensions",
        filters: ["subscription", "unfinished", "app"], saved: .extensions, texts: ["why", "closedWhy"],
        empty: { $0.word("no_extensions") },
        columns: { speaker in
            [
                .text(speaker.word("number")), .text(speaker.word("status")), .text(speaker.word("extension_of")),
                .number(speaker.word("days")), .text(speaker.word("requested_at")), .text(speaker.word("requester")),
                .text(speaker.word("reason")), .text(speaker.word("effective_on")), .text(speaker.word("app")),
            ]
        },
        row: { made, _ in
            let id = made.integer("id")
            return [
                Shown.count(id).leading(to: id.map { Place("extensions", "\($0)") }),
                made.standing("state", of: "extension_state"), subject(of: made), made.count("days"),
                made.at("requestedAt"), made.words("requestedBy"), made.words("why"), made.at("effectiveDate"),
                made.words("bundleId"),
            ]
        },
        fields: { call in
            [
                .line("subscription", call.speaker.word("original_transaction"), call.value("subscription")),
                PageList.only("unfinished", call.speaker.word("unfinished_only"), call),
                .line("app", call.speaker.word("app"), call.value("app")),
            ]
        },
        commands: { call in
            [
                CommandLine.text(
                    ["extensions", "list"] + (call.value("unfinished") == "true" ? ["--open"] : []),
                    [
                        ("subscription", call.value("subscription")), ("at", call.speaker.instant?.description),
                    ])
            ]
        })

    /// The subscription, or the product of all whose renewal is moved.
    private static func subject(of made: JSONObject) -> Shown {
        if let purchase = made.string("originalTransactionId") {
            return Shown.code(purchase).leading(to: Place("orders", query: ["search": purchase]))
        }
        let countries = made.strings("storefronts") ?? []
        return .all([made.id("productId")] + countries.map { .text($0) })
    }

    // MARK: One

    private static func content(
        _ call: PageCall, isOpened: Bool = false, _ problem: APIProblem? = nil
    ) async throws -> PageContent {
        let (speaker, id) = (call.speaker, call.part("id"))
        let made = try await call.ask("getExtension", path: ["id": id], ["open": isOpened ? "true" : nil])
        var blocks: [Block] = problem.map { [.note(ErrorPage.sentence($0, speaker), .bad)] } ?? []
        if made.string("state") == nil { blocks.append(.note(speaker.word("extension_undated"), .calm)) }
        if let message = made.string("message") { blocks.append(.note(message, .warning)) }
        blocks.append(.facts(facts(made, speaker)))
        let hasText = made.string("why") != nil || made.string("closedWhy") != nil
        blocks += Opening.form(call, at: Place("extensions", id), isOpened, if: hasText ? [made] : [])
        blocks.append(.table(failures(made, speaker)))
        if made.string("settledAt") == nil, call.may(.discard) {
            blocks.append(
                .form(
                    .act(
                        speaker.word("extension_close"), Place("extensions", id, "close"), Reason.fields(call),
                        speaker.word("extension_close"), about: speaker.word("extension_close_about"),
                        hidden: ["once": SentForms.number()], isDangerous: true)))
        }
        var content = PageContent(
            "\(speaker.word("extension")) \(id)", blocks,
            commands: [
                CommandLine.text(["extensions", "show", id], [("at", speaker.instant?.description)])
            ])
        if let problem { content.status = problem.code.status }
        return content
    }

    private static func facts(_ made: JSONObject, _ speaker: Speaker) -> PageFacts {
        var facts: [(label: String, value: Shown)] = []
        func add(_ label: String, _ value: Shown) { facts.append((label, value)) }
        add(speaker.word("status"), made.standing("state", of: "extension_state"))
        add(speaker.word("waiting_for"), made.id("waitingFor"))
        add(speaker.word("extension_of"), subject(of: made))
        add(speaker.word("days"), made.count("days"))
        add(speaker.word("reason_code"), made.count("reasonCode"))
        add(speaker.word("app"), made.words("bundleId"))
        add(speaker.word("environment"), made.standing("environment", of: "environment"))
        add(speaker.word("requested_at"), made.at("requestedAt"))
        add(speaker.word("requester"), made.words("requestedBy"))
        add(speaker.word("reason"), made.words("why"))
        add(speaker.word("asked_at"), made.at("askedAt"))
        add(speaker.word("asked_again"), made.count("askedAgain"))
        add(speaker.word("renews_before"), made.at("renewsBefore"))
        add(speaker.word("accepted_at"), made.at("acceptedAt"))
        add(speaker.word("effective_on"), made.at("effectiveDate"))
        add(speaker.word("confirmed_at"), made.at("confirmedAt"))
        add(speaker.word("completed_at"), made.at("completedAt"))
        add(speaker.word("succeeded"), made.count("succeededCount"))
        add(speaker.word("failed"), made.count("failedCount"))
        add(speaker.word("refused_code"), made.id("code"))
        add(speaker.word("closed_by"), made.words("closedBy"))
        add(speaker.word("closed_why"), made.words("closedWhy"))
        add(speaker.word("settled_at"), made.at("settledAt"))
        add(speaker.word("request_identifier"), made.id("requestIdentifier"))
        return PageFacts(facts)
    }

    private static func failures(_ made: JSONObject, _ speaker: Speaker) -> PageTable {
        PageTable(
            speaker.word("extension_failures"),
            [
                .text(speaker.word("original_transaction")), .text(speaker.word("when")),
                .text(speaker.word("notification")),
            ],
            made.objects("failures").map { failure in
                let purchase = failure.string("originalTransactionId")
                return [
                    Shown.id(purchase).leading(to: purchase.map { Place("orders", query: ["search": $0]) }),
                    failure.at("signedAt"), failure.id("notificationUuid"),
                ]
            }, empty: speaker.word("no_failures"))
    }

    /// Gives it up, and shows it as it is then.
    private static func close(_ call: PageCall) async throws -> PageOutcome {
        do {
            let id = call.part("id")
            _ = try await call.send("closeExtension", path: ["id": id], ["reason": .string(try Reason.sent(call))])
            return .redirect(Place("extensions", id))
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await content(call, isOpened: false, problem))
        }
    }
}
