import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import Base
import HTTPTypes
import Logging
import OrderStore
import Staff
import Subscriptions

extension AdminHandlers {
    /// Requests for refunds, the latest first.
    var refundList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/refund-requests", "listRefundRequests",
            "Requests of staff for refunds, the latest first, or by what is due next. Without an order or an account, a page looks through \(RefundRequests.mostLookedThrough) requests at most.",
            for: .staff,
            successes: [refundPages(.init()).success("RefundRequestPage", "A page of requests.")]
        ) { request in
            let member = try await member(request, for: .read)
            var filter = RefundRequests.Filter()
            filter.scope = member.scope
            filter.state = request.query["state"].flatMap { RefundRequest.State(rawValue: $0) }
            filter.isNotRefunded = request.query["notRefunded"] == "true"
            if let text = request.query["account"] { filter.account = try await namedAccount(text).token }
            (filter.order, filter.app) = (request.query["order"], request.query["app"])
            filter.environment = request.query["environment"] ?? Environment.production.rawValue
            filter.isByDue = Self.isByDue(request)
            filter.at = try Self.instant("at", request)
            return try await refundPages(filter).answer(request, self)
        }
        endpoint.query =
            AdminList<ShownRefund>.query + Opening.query + [
                .init("state", AdminShapes.states, "Only in this state."),
                .init("notRefunded", .boolean, "Only those approved 30 days ago that Apple has not refunded."),
                .init("order", .string(.init(1, 100)), "Only about this order, by its number."),
                .init(
                    "account", .string(.init(1, 1000)),
                    "Only about purchases that this account has or had: its id, or token: and its appAccountToken."),
                .init("app", .string(.init(1, 255)), "Only of this app (bundle id)."),
                .init("environment", Environment.schema, "Production by default."),
                Self.sort(
                    "those that wait for a decision, first those that Apple waits for, and then the oldest; the oldest \(RefundRequests.mostByDue) are looked through, or with at the latest \(RefundRequests.mostLookedThrough) requests that there were"
                ),
                Self.refundsAt,
            ]
        endpoint.refusesFitting =
            "after is next of a page before, account names one, at is an instant, a file of opened texts has a reason"
        return endpoint
    }

    /// The order of a list of what waits for staff.
    static func sort(_ byDue: String) -> APIQueryParameter {
        .init("sort", .choice(["latest", "due"]), "latest by default: all, the latest first. due: \(byDue).")
    }

    /// Whether a list is asked for by what is due next.
    static func isByDue(_ request: AdminRequest) -> Bool { request.query["sort"] == "due" }

    private func refundPages(_ filter: RefundRequests.Filter) -> AdminList<ShownRefund> {
        AdminList(
            name: "requests", shape: AdminShapes.refund, subject: ("refund_requests", "list"),
            cursorParts: RefundRequests.cursorParts(byDue: filter.isByDue),
            takes: { RefundRequests.isCursor($0, byDue: filter.isByDue) },
            openedTexts: { $0.openedTexts }
        ) { [refunds] opening, cursor, limit in
            try await refunds.list(filter, after: cursor, limit: limit).map {
                ShownRefund($0, isOpen: opening.isOpen)
            }
        }
    }

    /// A request for a refund.
    var refundShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/refund-requests/{id}", "getRefundRequest",
            "A request for a refund: what was asked and decided, and what Apple did.", for: .staff,
            successes: [.init("The request.", AdminShapes.refund.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            let number = try Self.refundNumber(request)
            let instant = try Self.instant("at", request)
            guard let recorded = try await refunds.show(number, to: member.scope, at: instant) else {
                throw RefundRefusal.noRequest.problem
            }
            let opening = try await Opening(request, isExport: false, of: ("refund_request", "\(number)"), self)
            let shown = ShownRefund(recorded, isOpen: opening.isOpen)
            try await opening.note(shown.openedTexts)
            return APIAnswer(.ok, AdminShapes.refund.value(of: shown))
        }
        endpoint.pathSchemas = Self.refundPath
        endpoint.query = Opening.query + [Self.refundsAt]
        endpoint.problems = [.noRefundRequest]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    private static let refundsAt = at(
        "What had been asked for by this instant, such as 2026-01-31T12:00:00Z, in the state of then, with dueAt and waitingSeconds of then; now by default. Amounts of refunds by Apple are those known now. maxRefundable is left out."
    )

    private static let refundPath = ["id": ValueSchema.string(.init(1, 100))]

    /// The request that the path names.
    private static func refundNumber(_ request: AdminRequest) throws(APIProblem) -> RefundNumber {
        guard let number = RefundNumber(request.path["id"] ?? "") else { throw RefundRefusal.noRequest.problem }
        return number
    }

    // MARK: Acts

    /// A new request.
    var refundCreate: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/orders/{number}/refund-requests", "createRefundRequest",
            "Asks for a refund of one transaction of an order. No money moves.", for: .staff,
            successes: [.init(.created, "The request is on record.", AdminShapes.refund.schema)]
        ) { try await createRefund($0) }
        endpoint.pathSchemas = Self.orderPath
        endpoint.body = Self.body(
            "CreateRefundRequest",
            [
                .optional("transactionId", .string(.init(1, 255)), "Apple's id; the latest paid one by default."),
                .required(
                    "type", AdminShapes.kinds,
                    "full: all that is left; prorated: what time is left at the approval; partial: amount."),
                Self.amount("Of a partial one, in thousandths of the currency."),
            ])
        endpoint.problems = ProblemCode.newRefund
        endpoint.refusesFitting = Self.argued
        endpoint.isLogged = true
        return endpoint
    }

    private func createRefund(_ request: AdminRequest) async throws -> APIAnswer {
        let body = try Self.body(request)
        let member = try await member(request, for: .createRefundRequest)
        let reason = try Self.reason(body)
        guard let kind = RefundRequest.Kind(rawValue: body.string("type") ?? "") else {
            throw APIProblem(.invalidRequest, "type takes full, partial or prorated")
        }
        let recorded = try await refunding(request, member) { actor in
            try await refunds.create(
                kind, amount: body.integer("amount"), order: request.path["number"] ?? "",
                transaction: body.string("transactionId"), why: reason, by: actor)
        }
        return APIAnswer(
            .created, AdminShapes.refund.value(of: ShownRefund(recorded)),
            log: ["refund_request": "\(recorded.number)"])
    }

    /// Yes.
    var refundApprove: AdminEndpoint {
        var endpoint = decision(
            "approve", "approveRefundRequest",
            "Approves a pending request. For 90 days it answers what Apple asks about the transaction, with the customer's consent. No money moves.",
            [
                Self.amount("Another amount than the requested one, in thousandths of the currency."),
                Self.note(isRequired: false),
            ],
            for: .approveRefundRequest(isOwn: false)
        ) { refunds, number, body, actor in
            let note = body.string("note")
            return try await refunds.approve(
                number, amount: body.integer("amount"), note: try note.map { try Self.text($0, "note") }, by: actor)
        }
        endpoint.refusesFitting = "a note is not blank"
        return endpoint
    }

    /// No.
    var refundReject: AdminEndpoint {
        decision(
            "reject", "rejectRefundRequest",
            "Rejects a pending request. For 90 days it answers what Apple asks about the transaction, with the customer's consent.",
            [Self.note(isRequired: true)], for: .rejectRefundRequest
        ) { try await $0.reject($1, note: Self.text($2.string("note"), "note"), by: $3) }
    }

    /// Never mind.
    var refundCancel: AdminEndpoint {
        decision(
            "cancel", "cancelRefundRequest", "Takes a request back.", [Self.note(isRequired: true)],
            for: .cancelRefundRequest
        ) { try await $0.cancel($1, note: Self.text($2.string("note"), "note"), by: $3) }
    }

    /// Done elsewhere.
    var refundRecord: AdminEndpoint {
        var endpoint = decision(
            "record", "recordRefund",
            "Records that an approved refund was made elsewhere. A reference outlives the erasure of the account: it names a payment, and no person.",
            [
                .required("reference", .string(.init(1, 100)), "What the refund is called where it was made."),
                .required("amount", .integer(), "In thousandths of the currency."),
                .required("at", .string(.init(1, 40)), "When it was made, such as 2026-01-31T12:00:00Z."),
            ], for: .recordRefund
        ) { refunds, number, body, actor in
            let reference = try Self.text(body.string("reference"), "reference")
            guard reference.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
                throw APIProblem(.invalidRequest, "reference has to be on one line")
            }
            let at = try Self.instant("at", body.string("at") ?? "")
            return try await refunds.record(
                number, .init(reference: reference, amount: body.integer("amount") ?? 0, at: at), by: actor)
        }
        endpoint.problems = ProblemCode.recordedRefund
        endpoint.refusesFitting = "a reference is not blank and on one line, and at is an instant"
        return endpoint
    }

    private func decision(
        _ part: String, _ name: String, _ summary: String, _ members: [ValueSchema.Property], for task: StaffTask,
        _ decide:
            @escaping @Sendable (RefundRequests, RefundNumber, JSONObject, StaffActor) async throws ->
            RefundRequests.Decided
    ) -> AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/refund-requests/{id}/\(part)", name, summary, for: .staff,
            successes: [.init("It is done, and on record.", AdminShapes.decidedRefund.schema)]
        ) { request in
            let body = try Self.body(request)
            let member = try await member(request, for: task)
            let number = try Self.refundNumber(request)
            let decided = try await refunding(request, member) { try await decide(refunds, number, body, $0) }
            return APIAnswer(
                .ok, AdminShapes.decidedRefund.value(of: DecidedRefund(decided)),
                log: ["refund_request": "\(number)", "state": "\(decided.recorded.request.state.rawValue)"])
        }
        endpoint.pathSchemas = Self.refundPath
        endpoint.body = APIBody(
            .named(
                name.prefix(1).uppercased() + name.dropFirst() + "Body",
                .strict(StrictObject(what: "a decision", members: members))), most: 16 << 10)
        endpoint.problems = ProblemCode.decidedRefund
        endpoint.refusesFitting = "a note is not blank"
        endpoint.isLogged = true
        return endpoint
    }

    /// Does something about refunds for a member. Refusals are problems; what the rules do not allow is on record as a try.
    private func refunding<Value: Sendable>(
        _ request: AdminRequest, _ member: StaffMember, _ body: (StaffActor) async throws -> Value
    ) async throws -> Value {
        do {
            return try await body(StaffActor(name: member.actor, role: member.role, scope: member.scope))
        } catch let refusal as RefundRefusal {
            throw refusal.problem
        } catch let refusal as StaffRefusal {
            throw try await problem(refusal, request, member)
        }
    }

    private static func amount(_ about: String) -> ValueSchema.Property { .optional("amount", .integer(), about) }

    private static func note(isRequired: Bool) -> ValueSchema.Property {
        let (schema, about) = (ValueSchema.string(.init(1, 1000)), "For colleagues; personal text.")
        return isRequired ? .required("note", schema, about) : .optional("note", schema, about)
    }

    /// A text that is not blank.
    static func text(_ text: String?, _ name: String) throws(APIProblem) -> String {
        guard let text, text.contains(where: { !$0.isWhitespace }) else {
            throw APIProblem(.invalidRequest, ProblemText(english: "\(name) is blank"))
        }
        return text
    }
}
