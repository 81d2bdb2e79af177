import APIKit
import AppStorePayloads
import Base
import Staff
import Subscriptions

/// Requests for refunds: the list, its file, and each request with what may be decided about it.
enum RefundPages {
    static var pages: [Page] {
        [
            .get("/refund-requests", "refunds", in: .refunds) { .page(try await list($0)) },
            .post("/refund-requests", "refunds_opened", in: .refunds) { .page(try await list($0, isOpened: true)) },
            .get("/refund-requests.csv", "refunds_file", in: .refunds) {
                try await $0.file("listRefundRequests", $0.kept(filters))
            },
            .get("/refund-requests/{id}", "refund", in: .refunds) { .page(try await RefundPage($0).content()) },
            .post("/refund-requests/{id}", "refund_opened", in: .refunds) {
                .page(try await RefundPage($0).content(isOpened: true))
            },
            .post("/refund-requests/{id}/decide", "refund_decide", in: .refunds) { try await RefundPage($0).decide() },
        ]
    }

    private static let filters = ["state", "notRefunded", "order", "app"]

    private static func list(_ call: PageCall, isOpened: Bool = false) async throws -> PageContent {
        let speaker = call.speaker
        let kept = call.kept(filters)
        var query = kept
        query["after"] = .some(call.value("after"))
        if isOpened { query["open"] = "true" }
        let page = try await call.ask("listRefundRequests", query)
        let requests = page.objects("requests")
        let title = speaker.word(of: "section", Section.refunds.rawValue)
        var listed = table(requests, title, speaker)
        listed.next = page.string("next").map { Place("refund-requests", query: kept).with("after", $0) }
        listed.file = Place("refund-requests.csv", query: kept)
        let here = Place("refund-requests", query: call.kept(filters + ["after"]))
        var blocks: [Block] = [.form(filter(call)), .table(listed)]
        blocks += Opening.form(call, at: here, isOpened, if: requests)
        return PageContent(
            title, blocks,
            commands: [
                CommandLine.text(
                    ["refunds", "list"] + (call.value("notRefunded") == "true" ? ["--not-refunded"] : []),
                    [
                        ("state", call.value("state")), ("order", call.value("order")), ("app", call.value("app")),
                        ("environment", speaker.environment),
                    ])
            ])
    }

    private static func filter(_ call: PageCall) -> PageForm {
        let speaker = call.speaker
        let late = [
            PageForm.Field.Choice("", speaker.word("any")), PageForm.Field.Choice("true", speaker.word("not_refunded")),
        ]
        return .filter(
            Place("refund-requests"),
            [
                .states(
                    "state", speaker.word("status"), "refund_state", RefundRequest.State.allCases.map(\.rawValue),
                    call.value("state"), speaker),
                PageForm.Field("notRefunded", speaker.word("late"), .choice(late), call.value("notRefunded")),
                .line("order", speaker.word("order"), call.value("order"), most: 100),
                .line("app", speaker.word("app"), call.value("app")),
            ], speaker.word("filter"))
    }

    /// Requests, wherever they are listed.
    static func table(_ requests: [JSONObject], _ caption: String, _ speaker: Speaker) -> PageTable {
        PageTable(
            caption,
            [
                .text(speaker.word("request")), .text(speaker.word("status")), .text(speaker.word("order")),
                .text(speaker.word("refund_kind")), .number(speaker.word("requested")),
                .number(speaker.word("approved")), .number(speaker.word("refunded_by_apple")),
                .text(speaker.word("reason")), .text(speaker.word("requester")), .text(speaker.word("created")),
            ], requests.map { row(of: $0, speaker) }, empty: speaker.word("no_refund_requests"))
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
            request.at("createdAt"),
        ]
    }
}
