package import Base
package import OrderStore
import Postgres
import Subscriptions

/// A request for a refund as it is shown: what staff wrote in full, or shortened.
package struct ShownRefundRequest: Sendable {
    /// The request.
    package var recorded: RecordedRefundRequest
    /// Whether texts are shown in full.
    package var isOpen: Bool

    /// A request.
    package init(_ recorded: RecordedRefundRequest, isOpen: Bool = false) {
        self.recorded = recorded
        self.isOpen = isOpen
    }

    fileprivate func text(_ text: String?) -> String? { text.map { isOpen ? $0 : PersonalText.shortened($0) } }

    /// How many texts are shown in full.
    package var openedTexts: Int64 {
        isOpen ? Int64([recorded.reason, recorded.note].compactMap(\.self).count) : 0
    }

    fileprivate func money(_ amount: Int64?) -> String? {
        amount.map { $0 == 0 ? "0" : Money($0, in: recorded.currency)?.words ?? "\($0)" }
    }

    fileprivate var order: String { recorded.order ?? "…" }
    fileprivate var request: RefundRequest { recorded.request }
    fileprivate var stateText: String {
        recorded.isNotRefunded ? "not refunded by Apple" : request.state.rawValue
    }
}

extension CommandAnswer {
    /// Requests, a page or several.
    package init(_ page: ListPage<ShownRefundRequest>) {
        let table =
            page.elements.isEmpty
            ? "no refund requests; make one with storehook refunds create ORDER" : Self.refund.table(of: page.elements)
        var members = [JSONValue.Member("requests", Self.refund.values(of: page.elements))]
        if let next = page.next { members.append(.init("next", next.description.json)) }
        self.init(
            .object(members), text: table + (page.next.map { "\n\nthe list goes on: --after \($0)" } ?? ""),
            csv: Self.refund.csv(of: page.elements))
    }

    /// A request that was made.
    package init(created shown: ShownRefundRequest) {
        let amount = shown.money(shown.request.requested) ?? "-"
        self.init(
            shown, Self.refund,
            text: """
                created \(shown.recorded.number): \(shown.request.kind.rawValue) refund of \(amount) for transaction \
                \(shown.recorded.transactionID) of \(shown.order)
                to decide: storehook refunds approve \(shown.recorded.number), or reject
                """)
    }

    /// A request that was decided.
    package init(_ decided: RefundRequests.Decided, isOpen: Bool = false) {
        let shown = ShownRefundRequest(decided.recorded, isOpen: isOpen)
        var lines = [Self.text(of: shown)]
        if decided.recorded.request.state == .approved || decided.recorded.request.state == .rejected {
            if let answeredAt = decided.answeredAt {
                lines.append(
                    "Apple was sent consumption data about this transaction at \(Timestamp(answeredAt)): the decision changes nothing of that answer"
                )
            } else {
                lines.append(
                    "it answers what Apple asks about this transaction for 90 days, with the customer's consent alone")
            }
        }
        var members = Self.refund.value(of: shown)
        if case .object(var object) = members {
            object.append(.init("answered_before_at", decided.answeredAt.map { .time(Timestamp($0)) } ?? .null))
            members = .object(object)
        }
        self.init(members, text: lines.joined(separator: "\n"))
    }

    private static func text(of shown: ShownRefundRequest) -> String {
        let number = shown.recorded.number
        switch shown.request.state {
        case .approved:
            return """
                approved \(number): \(shown.money(shown.request.approved) ?? "-"). No money has moved: Apple alone refunds, and \
                decides the amount
                the customer asks Apple for it (reportaproblem.apple.com); made elsewhere, record it: storehook refunds \
                record \(number)
                """
        case .processed:
            return """
                recorded \(number): \(shown.money(shown.request.elsewhere?.amount) ?? "-") refunded elsewhere, reference \
                \(shown.request.elsewhere?.reference ?? "-")
                """
        default: return "\(shown.request.state.rawValue) \(number)"
        }
    }

    private static let refund = CommandShape<ShownRefundRequest>([
        .init("number", column: "REQUEST", \.recorded.number.description),
        .init("order", \.recorded.order), .column("ORDER", \.order), .init("order_key", \.recorded.orderKey),
        .init("transaction", column: "TRANSACTION", \.recorded.transactionID),
        .init("product", column: "PRODUCT", \.recorded.productID),
        .init("environment", \.recorded.environment), .init("app", \.recorded.bundleID),
        .init("type", column: "TYPE", \.request.kind.rawValue), .init("state", \.request.state.rawValue),
        .column("STATE", \.stateText), .init("not_refunded_by_apple", \.recorded.isNotRefunded),
        .init("currency", \.recorded.currency), .init("price", \.recorded.price),
        .init("requested", \.request.requested), .column("REQUESTED") { $0.money($0.request.requested) },
        .init("approved", \.request.approved), .column("APPROVED") { $0.money($0.request.approved) },
        .init("max_refundable", \.recorded.maxRefundable),
        .column("LEFT") { $0.money($0.recorded.maxRefundable) },
        .init("created_at", column: "MADE", \.request.createdAt),
        .init("requester", column: "BY", \.recorded.requester),
        .init("reason") { $0.text($0.recorded.reason) },
        .column("WHY") {
            $0.recorded.textErasedAt == nil ? CommandAnswer.shown($0.text($0.recorded.reason), nil) : "(erased)"
        },
        .init("decided_at", \.request.decidedAt), .init("decider", column: "DECIDED BY", \.request.decider),
        .init("note") { $0.text($0.recorded.note) }, .init("text_erased_at", \.recorded.textErasedAt),
        .init("refunded_by_apple", \.request.refundedByApple?.amount),
        .init("refunded_by_apple_at", \.request.refundedByApple?.at), .init("difference", \.request.difference),
        .column("BY APPLE") { $0.money($0.request.refundedByApple?.amount) },
        .init("reversed_at", \.request.reversedAt),
        .init("reference", \.request.elsewhere?.reference),
        .init("refunded_elsewhere", \.request.elsewhere?.amount),
        .init("refunded_elsewhere_at", \.request.elsewhere?.at),
        .init("processed_at", \.request.processedAt), .init("due_at", column: "DUE", \.recorded.dueAt),
    ])
}
