import Base
import OrderStore
import Postgres
import Subscriptions

/// A request for a refund: what staff wrote in full, or shortened.
struct ShownRefund: Sendable {
    /// The request.
    let recorded: RecordedRefundRequest
    /// Whether texts are shown in full.
    let isOpen: Bool

    init(_ recorded: RecordedRefundRequest, isOpen: Bool = false) {
        self.recorded = recorded
        self.isOpen = isOpen
    }

    /// The request and its decision.
    var request: RefundRequest { recorded.request }

    /// A personal text as it is shown.
    func text(_ text: String?) -> String? { text.map { isOpen ? $0 : PersonalText.shortened($0) } }

    /// How many are shown in full.
    var openedTexts: Int64 { isOpen ? Int64([recorded.reason, recorded.note].count { $0 != nil }) : 0 }
}

/// A request that was decided.
struct DecidedRefund: Sendable {
    /// As it is now.
    let shown: ShownRefund
    /// When Apple was sent consumption data before.
    let answeredBeforeAt: PostgresTimestamp?

    init(_ decided: RefundRequests.Decided) {
        shown = ShownRefund(decided.recorded)
        answeredBeforeAt = decided.answeredAt
    }
}
