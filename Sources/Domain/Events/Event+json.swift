import Accounts
import AppStorePayloads
public import Base
import Subscriptions

extension Event {
    /// The body that is posted, and that the feed lists.
    /// - Parameter previousSequence: the last one sent to the same place for the same account; nil where this is the first.
    public func json(previousSequence: Int64?) -> String {
        Self.json(
            kind: draft.kind.rawValue, instant: draft.instant, bundleID: draft.bundleID, environment: draft.environment,
            account: account, token: draft.account, version: version, sequence: sequence,
            previousSequence: previousSequence, content: draft.content)
    }

    /// The same, out of what is stored of an event.
    /// - Parameters:
    ///   - content: see ``EventDraft/content``.
    ///   - isReplay: whether an operator sends it once more, as a test.
    public static func json(
        kind: String, instant: Timestamp, bundleID: String?, environment: String, account: String?,
        token: UniqueIdentifier?, version: Int64?, sequence: Int64, previousSequence: Int64?, content: String,
        isReplay: Bool = false
    ) -> String {
        var json = JSONWriter(capacity: 2048)
        json.object { body in
            body.add("type", kind)
            body.add("timestamp", instant)
            body.add("data", content) { content, data in
                data.add("app", bundleID)
                data.add("environment", environment)
                data.add("account", account ?? token?.description)
                data.add("appAccountToken", token)
                data.add("version", version)
                data.add("sequence", sequence)
                data.add("previousSequence", previousSequence)
                if isReplay { data.add("replay", true) }
                data.addMembers(content)
            }
        }
        return json.text
    }
}

extension EventDraft {
    /// The members of `data` that do not depend on the event's place: what is stored of it.
    public var content: String {
        var bytes: [UInt8] = []
        writeContent(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the same, in UTF-8.
    public func writeContent(to bytes: inout [UInt8]) {
        JSONWriter.appendMembers(to: &bytes) { write(to: &$0) }
    }

    private func write(to json: inout JSONWriter) {
        switch subject {
        case .subscription(let value, let previous):
            json.add("subscription", value) { $0.write(of: purchase, terms, to: &$1) }
            json.add("previous", previous) { $0.write(of: purchase, terms, to: &$1) }
        case .oneTime(let value, let previous):
            json.add("purchase", value) { $0.write(of: purchase, terms, to: &$1) }
            json.add("previous", previous) { $0.write(of: purchase, terms, to: &$1) }
        case .account(let value, let previous):
            json.add("access", value) { $0.write(to: &$1) }
            json.add("previous", previous) { $0.write(to: &$1) }
        case .consumption(let transactionID, let reason, let answer):
            json.add("consumption", purchase?.originalTransactionID ?? "") { original, request in
                request.add("originalTransactionId", original)
                request.add("transactionId", transactionID)
                request.add("reason", reason)
                request.add("answer", answer)
            }
        case .none: break
        }
        if let period { json.add("transaction", period) { $0.write(terms, to: &$1) } }
        if let move {
            json.add("transferredFrom", move.from)
            json.add("transferredTo", move.to)
        }
        json.add("cause", cause) { $0.write(id: causeID ?? clockID, to: &$1) }
        json.add("late", isLate)
        json.add("correction", isCorrection)
    }
}

extension EventCause {
    fileprivate func write(id: UniqueIdentifier, to json: inout JSONWriter) {
        json.add("kind", name)
        guard case .notification(let type, let subtype, let uuid) = self else { return json.add("uuid", id) }
        json.add("type", type)
        json.add("subtype", subtype)
        json.add("uuid", uuid)
    }
}

extension EventDraft {
    /// The id of a cause without one: equal in all that is reported of one account, or purchase of no account, at one instant.
    fileprivate var clockID: UniqueIdentifier {
        let whose =
            account?.description ?? purchase.map { "\($0.bundleID) \($0.originalTransactionID)" } ?? bundleID ?? ""
        return AccountToken.version5(
            of: "\(environment) \(whose) \(instant.millisecondsSince1970)", in: Self.clockNamespace)
    }

    /// 3be7d18d-febc-4d2e-a1fc-8dd1b4e995e2, drawn once for storehook.
    private static let clockNamespace = UniqueIdentifier(high: 0x3be7_d18d_febc_4d2e, low: 0xa1fc_8dd1_b4e9_95e2)
}

extension SaleTerms {
    /// - Parameter isCounted: whether the quantity is written, too.
    fileprivate static func write(_ terms: SaleTerms?, isCounted: Bool = true, to json: inout JSONWriter) {
        json.add("price", terms?.price)
        json.add("currency", terms?.currency)
        json.add("storefront", terms?.storefront)
        json.add("offer", terms?.offer) { offer, json in
            json.add("type", offer.type)
            json.add("id", offer.id)
            json.add("discountType", offer.discountType)
        }
        if isCounted { json.add("quantity", terms?.quantity) }
    }
}

extension StatusAtInstant {
    fileprivate func write(of purchase: PurchaseKey?, _ terms: [String: SaleTerms], to json: inout JSONWriter) {
        json.add("originalTransactionId", purchase?.originalTransactionID)
        json.add("productId", productID)
        json.add("status", status.rawValue)
        json.add("access", status.access)
        json.add("expiresAt", expiresAt)
        json.add("accessUntil", accessUntil)
        json.add("inTrial", inTrial)
        json.add("willRenew", willRenew)
        json.add("renewalProductId", renewalProductID)
        json.add("priceIncreasePending", priceIncreasePending)
        json.add("expirationIntent", expirationIntent.map { Int64($0) })
        json.add("appAccountToken", appAccountToken)
        SaleTerms.write(transactionID.flatMap { terms[$0] }, to: &json)
    }
}

extension PaidPeriod {
    fileprivate func write(_ terms: [String: SaleTerms], to json: inout JSONWriter) {
        json.add("transactionId", transactionID)
        json.add("productId", productID)
        json.add("ownership", ownership)
        json.add("startsAt", startsAt)
        json.add("expiresAt", expiresAt)
        json.add("isTrial", isFreeTrial)
        json.add("revokedAt", revokedAt)
        json.add("revokedShare", revokedShare)
        json.add("revokedReason", revokedReason?.word)
        SaleTerms.write(terms[transactionID], to: &json)
    }
}

extension OneTimePurchase {
    fileprivate func write(of purchase: PurchaseKey?, _ terms: [String: SaleTerms], to json: inout JSONWriter) {
        json.add("originalTransactionId", purchase?.originalTransactionID)
        json.add("transactionId", transactionID)
        json.add("productId", productID)
        json.add("kind", kind.rawValue)
        json.add("ownership", ownership)
        json.add("quantity", quantity)
        json.add("purchasedAt", purchasedAt)
        json.add("expiresAt", expiresAt)
        json.add("revokedAt", revokedAt)
        json.add("revokedShare", revokedShare)
        json.add("revokedReason", revokedReason?.word)
        json.add("appAccountToken", appAccountToken)
        SaleTerms.write(terms[transactionID], isCounted: false, to: &json)
    }
}

extension AccountPhase {
    fileprivate func write(to json: inout JSONWriter) {
        json.add("tier", tier)
        json.add("status", status.rawValue)
        json.add("access", access)
        json.add("source", source.rawValue)
        json.add("productId", productID)
        json.add("expiresAt", expiresAt)
        json.add("tierUntil", tierUntil)
        json.add("periodEndsAt", periodEndsAt)
        json.add("willRenew", willRenew)
        json.add("inTrial", inTrial)
    }
}
