import APIKit
import AdminAPI
import AppStorePayloads
import Base
import Staff
import Subscriptions

/// Requests for refunds: the list, its file, and each request with what may be decided about it.
enum RefundPages {
    static var pages: [Page] {
        let others: [Page] = [
            .get("/refund-requests/{id}", "refund", in: .refunds) { .page(try await RefundPage($0).content()) },
            .post("/refund-requests/{id}", "refund_opened", in: .refunds) {
                .page(try await RefundPage($0).content(isOpened: true))
            },
            .post("/refund-requests/{id}/decide", "refund_decide", in: .refunds) { try await RefundPage($0).decide() },
        ]
        return list.pages("refunds", in: .refunds) { _ in PageList.Around() } + others
    }

    private static let list = PageList(
        endpoint: "listRefundRequests", rows: "requests", place: "refund-requests", section: .refunds,
        filters: ["state", "notRefunded", "order", "app", "sort", "account"], held: ["account"], saved: .refundRequests,
        texts: ["reason"],
        empty: { $0.word("no_refund_requests") }, columns: { columns($0) }, row: { row(of: $0, $1) },
        fields: { call in
            let speaker = call.speaker
            let late = [
                PageForm.Field.Choice("", speaker.word("any")),
                PageForm.Field.Choice("true", speaker.word("not_refunded")),
            ]
            return [
                .states(
                    "state", speaker.word("status"), "refund_state", RefundRequest.State.allCases.map(\.rawValue),
                    call.value("state"), speaker),
                PageForm.Field("notRefunded", speaker.word("late"), .choice(late), call.value("notRefunded")),
                .line("order", speaker.word("order"), call.value("order"), most: 100),
                .line("app", speaker.word("app"), call.value("app")), PageList.sort(call),
            ]
        },
        commands: { call in
            [
                CommandLine.text(
                    ["refunds", "list"] + (call.value("notRefunded") == "true" ? ["--not-refunded"] : [])
                        + (call.value("sort") == "due" ? ["--by-due"] : []),
                    [
                        ("state", call.value("state")), ("order", call.value("order")), ("app", call.value("app")),
                        ("environment", call.speaker.environment), ("at", call.speaker.instant?.description),
                    ])
            ]
        })

    /// Requests, wherever they are listed.
    static func table(_ requests: [JSONObject], _ caption: String, _ speaker: Speaker) -> PageTable {
        PageTable(
            caption, columns(speaker), requests.map { row(of: $0, speaker) },
            empty: speaker.word("no_refund_requests"))
    }

    private static func columns(_ speaker: Speaker) -> [PageTable.Column] {
        [
            .text(speaker.word("request")), .text(speaker.word("status")), .text(speaker.word("order")),
            .text(speaker.word("refund_kind")), .number(speaker.word("requested")),
            .number(speaker.word("approved")), .number(speaker.word("refunded_by_apple")),
            .text(speaker.word("reason")), .text(speaker.word("requester")), .text(speaker.word("created")),
            .text(speaker.word("due_until")), .text(speaker.word("waited")),
        ]
    }

    /// How long it has waited for a decision, or for Apple's refund.
    static func waited(_ request: JSONObject, _ speaker: Speaker) -> Shown {
        .words(request.integer("waitingSeconds").map { speaker.span($0) })
    }

    private static func row(of request: JSONObject, _ speaker: Speaker) -> [Shown] {
        let (number, order) = (request.string("number"), request.string("order"))
        var states = [request.standing("state", of: "refund_state")]
        if request.bool("notRefundedByApple") == true { states.append(.text(speaker.word("not_refunded"))) }
        return [
            Shown.words(number).leading(to: number.map { Place("refund-requests", $0) }), .all(states),
            Shown.words(order).leading(to: order.map { Place("orders", $0) }),
            request.standing("type", of: "refund_type"), request.amount("requested"), request.amount("approved"),
            request.amount("refundedByApple"), request.words("reason"), request.words("requester"),
            request.at("createdAt"), request.at("dueAt"), waited(request, speaker),
        ]
    }
}
