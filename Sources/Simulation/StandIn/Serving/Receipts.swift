import AppStorePayloads
import Simulator
import Synchronization

/// Receipts as old apps send them, and verifyReceipt.
///
/// A receipt has the shape of Apple's (PKCS#7 around a set of attributes), so that transaction ids can be read out of it; it is not
/// signed, so only verifyReceipt can vouch for it.
final class Receipts: Sendable {
    private let sharedSecret: String
    private let bundleId: String
    private let issued = Mutex<[String: String]>([:])

    init(sharedSecret: String, bundleId: String) {
        self.sharedSecret = sharedSecret
        self.bundleId = bundleId
    }

    /// A customer's receipt as it is now, in base64.
    func receipt(of id: String, _ store: AppStore) async -> String {
        guard let customer = await store.customers[id] else { return "" }
        let items = customer.subscriber.allItems.map { customer.subscriber[$0] }
        var attributes = [
            Self.attribute(
                0, Self.text(customer.subscriber.app.environment == .sandbox ? "ProductionSandbox" : "Production")),
            Self.attribute(2, Self.text(bundleId)), Self.attribute(3, Self.text(customer.subscriber.app.bundleVersion)),
            Self.attribute(12, Self.date(await store.now)), Self.attribute(19, Self.text("1")),
        ]
        for item in items {
            var members = [
                Self.attribute(1701, Self.tlv(0x02, [UInt8(truncatingIfNeeded: max(1, min(127, item.quantity)))])),
                Self.attribute(1702, Self.text(item.productId)), Self.attribute(1703, Self.text(item.transactionId)),
                Self.attribute(1704, Self.date(item.purchaseDate)),
                Self.attribute(1705, Self.text(item.originalTransactionId)),
                Self.attribute(1706, Self.date(item.originalPurchaseDate)),
            ]
            if let end = item.expiresDate { members.append(Self.attribute(1708, Self.date(end))) }
            if let end = item.revocationDate { members.append(Self.attribute(1712, Self.date(end))) }
            attributes.append(Self.attribute(17, Self.tlv(0x31, members.flatMap(\.self))))
        }
        let content = Self.tlv(0x04, Self.tlv(0x31, attributes.flatMap(\.self)))
        let data = Self.tlv(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01])
        let signedData = Self.tlv(
            0x30,
            Self.tlv(0x02, [1]) + Self.tlv(0x31, []) + Self.tlv(0x30, data + Self.tlv(0xA0, content))
                + Self.tlv(0x31, []))
        let name = Self.tlv(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02])
        let text = String(
            decoding: Base64.standard.encode(Self.tlv(0x30, name + Self.tlv(0xA0, signedData))), as: UTF8.self)
        issued.withLock { $0[text] = id }
        return text
    }

    /// Answers verifyReceipt.
    func answer(_ call: Call, _ store: AppStore) async -> JSONValue {
        if let refusal = await store.provocation(call.path), let status = refusal.code {
            return .members([
                "status": .number(status), "is-retryable": (21_100...21_199).contains(status) ? true : nil,
            ])
        }
        guard call.method == "POST", let body = try? call.object() else { return Self.status(21_000) }
        guard let text = body.string("receipt-data"), Base64.standard.decode(Array(text.utf8)) != nil, !text.isEmpty
        else { return Self.status(21_002) }
        guard let id = issued.withLock({ $0[text] }), let customer = await store.customers[id] else {
            return Self.status(21_003)
        }
        let place = await store.place(of: id)
        guard place == call.place else { return Self.status(place == .sandbox ? 21_007 : 21_008) }
        let items = customer.subscriber.allItems.map { customer.subscriber[$0] }
        if items.contains(where: { $0.subscriptionGroupIdentifier != nil }) || body.has("password") {
            guard body.string("password") == sharedSecret else { return Self.status(21_004) }
        }
        var latest = items.filter { $0.subscriptionGroupIdentifier != nil }
            .sorted { $0.purchaseDate > $1.purchaseDate }
        if body.bool("exclude-old-transactions") == true {
            var seen: Set<String> = []
            latest = latest.filter { seen.insert($0.originalTransactionId).inserted }
        }
        let pending = customer.subscriber.allLines.map { reference -> JSONValue in
            let renewal = customer.subscriber[reference].renewal
            var grace: String?
            if case .date(let date) = renewal.gracePeriodExpiresDate { grace = String(date) }
            return .members([
                "auto_renew_product_id": .text(renewal.autoRenewProductId),
                "product_id": .text(renewal.productId),
                "original_transaction_id": .text(renewal.originalTransactionId),
                "auto_renew_status": .text("\(renewal.autoRenewStatus)"),
                "expiration_intent": renewal.expirationIntent.map { JSONValue.text("\($0)") },
                "is_in_billing_retry_period": renewal.isInBillingRetryPeriod.map { JSONValue.text($0 ? "1" : "0") },
                "grace_period_expires_date_ms": grace.map(JSONValue.text),
            ])
        }
        return .members([
            "status": 0, "environment": .text(place.rawValue),
            "receipt": .members([
                "bundle_id": .text(bundleId),
                "receipt_type": .text(place == .sandbox ? "ProductionSandbox" : "Production"),
                "in_app": .list(items.map(Self.record)),
            ]),
            "latest_receipt": .text(await receipt(of: id, store)),
            "latest_receipt_info": .list(latest.map(Self.record)), "pending_renewal_info": .list(pending),
        ])
    }

    private static func status(_ status: Int64) -> JSONValue { .object(["status": .number(status)]) }

    private static func record(_ item: TransactionRecord) -> JSONValue {
        .members([
            "transaction_id": .text(item.transactionId), "original_transaction_id": .text(item.originalTransactionId),
            "product_id": .text(item.productId), "quantity": .text("\(item.quantity)"),
            "purchase_date_ms": .text("\(item.purchaseDate)"),
            "original_purchase_date_ms": .text("\(item.originalPurchaseDate)"),
            "expires_date_ms": item.expiresDate.map { JSONValue.text("\($0)") },
            "cancellation_date_ms": item.revocationDate.map { JSONValue.text("\($0)") },
            "cancellation_reason": item.revocationReason.map { JSONValue.text("\($0)") },
            "is_trial_period": .text(item.offer?.discountType == "FREE_TRIAL" ? "true" : "false"),
            "is_in_intro_offer_period": .text(
                item.offer?.kind == .introductory && item.offer?.discountType != "FREE_TRIAL" ? "true" : "false"),
            "in_app_ownership_type": .text(item.inAppOwnershipType),
            "web_order_line_item_id": item.webOrderLineItemId.map(JSONValue.text),
            "subscription_group_identifier": item.subscriptionGroupIdentifier.map(JSONValue.text),
            "app_account_token": item.appAccountToken.map(JSONValue.text),
        ])
    }

    // MARK: - DER, as much as a receipt needs

    /// A receipt's attribute: its type, a version, and its value in an octet string.
    private static func attribute(_ type: Int, _ value: [UInt8]) -> [UInt8] {
        let number = type < 128 ? [UInt8(type)] : [UInt8(type >> 8), UInt8(type & 0xFF)]
        return tlv(0x30, tlv(0x02, number) + tlv(0x02, [1]) + tlv(0x04, value))
    }

    private static func text(_ text: String) -> [UInt8] { tlv(0x0C, Array(text.utf8)) }

    private static func date(_ instant: Milliseconds) -> [UInt8] {
        tlv(0x16, Array("\(Timestamp(secondsSince1970: instant / 1000))".utf8))
    }

    private static func tlv(_ tag: UInt8, _ value: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        if value.count < 128 {
            length = [UInt8(value.count)]
        } else {
            var rest = value.count
            while rest > 0 {
                length.insert(UInt8(rest & 0xFF), at: 0)
                rest >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + value
    }
}
