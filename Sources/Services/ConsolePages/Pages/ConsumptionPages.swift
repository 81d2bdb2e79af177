import AdminAPI
import AppStorePayloads
import Base

/// What Apple asks about refunds, and what became of it.
enum ConsumptionPages {
    static var pages: [Page] {
        list.pages("consumption", in: .service) {
            PageList.Around(above: [SubPages.service("consumption-requests", $0)])
        }
    }

    private static let list = PageList(
        endpoint: "listConsumptionRequests", rows: "requests", place: "consumption-requests",
        filters: ["days", "state", "app", "sort", "account"], held: ["account"],
        saved: .consumptionRequests, empty: { $0.word("no_consumption") },
        columns: { speaker in
            [
                .text(speaker.word("asked_at")), .text(speaker.word("deadline")), .text(speaker.word("status")),
                .text(speaker.word("transaction")), .text(speaker.word("product_id")),
                .text(speaker.word("customer")), .text(speaker.word("apple_reason")), .text(speaker.word("consent")),
                .text(speaker.word("answer")), .text(speaker.word("rule")), .text(speaker.word("sent_at")),
                .text(speaker.word("app")),
            ]
        }, row: { request, speaker in row(of: request, speaker) },
        fields: { call in
            [
                PageForm.Field("days", call.speaker.word("last_days"), .number(1...36_500), call.value("days") ?? "7"),
                .states(
                    "state", call.speaker.word("status"), "consumption_state", states, call.value("state"),
                    call.speaker), .line("app", call.speaker.word("app"), call.value("app")), PageList.sort(call),
            ]
        },
        commands: { call in
            [
                CommandLine.text(
                    ["consumption", "list"],
                    [
                        ("days", call.value("days")), ("state", call.value("state")),
                        ("at", call.speaker.instant?.description),
                    ])
            ]
        })

    /// Requests, wherever they are listed.
    static func table(_ answer: JSONObject, _ speaker: Speaker) -> PageTable {
        PageTable(
            list.title(speaker), list.columns(speaker), answer.objects("requests").map { row(of: $0, speaker) },
            empty: list.empty(speaker))
    }

    private static let states = ["open", "sending", "answered", "late", "refused", "unknown", "not_answered"]

    private static func row(of request: JSONObject, _ speaker: Speaker) -> [Shown] {
        let (transaction, token) = (request.string("transactionId"), request.string("appAccountToken"))
        let state: [Shown] = [request.standing("state", of: "consumption_state")]
        let why = request.string("why").map { [Shown.code($0)] } ?? []
        let by = request.string("sentBy").map { [Shown.text($0)] } ?? []
        let left = request.integer("secondsLeft").map { seconds in
            let text = seconds < 0 ? "time_over" : "time_left"
            return [Shown.text(speaker.word(text, ["span": speaker.span(Int64(clamping: seconds.magnitude))]))]
        }
        return [
            request.at("signedAt"), .all([request.at("deadline")] + (left ?? [])), .all(state + why),
            Shown.id(transaction).leading(to: transaction.map { Place("orders", query: ["search": $0]) }),
            request.id("productId"),
            Shown.words(token.map { String($0.prefix(8)) }).leading(to: token.map { Place("customers", $0) }),
            request.words("reason"), request.whether("consent"), .id(request.json("answer")), request.words("rule"),
            .all([request.at("sentAt")] + by), request.words("bundleId"),
        ]
    }
}
