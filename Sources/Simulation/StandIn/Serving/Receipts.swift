import AppStorePayloads
import Base
import Crypto

/// Receipts as old apps send them, and verifyReceipt.
///
/// A receipt has the shape of Apple's (PKCS#7 around a set of attributes) and is signed under the stand-in's own root: with its
/// elliptic key, where Apple's receipts have RSA.
struct Receipts: Sendable {
    private let sharedSecret: String
    private let bundleId: String

    init(sharedSecret: String, bundleId: String) {
        self.sharedSecret = sharedSecret
        self.bundleId = bundleId
    }

    /// A customer's receipt as it is now, in base64.
    func receipt(of id: String, _ store: SimulatedAppStore) async -> String {
        guard let customer = await store.customers[id] else { return "" }
        let items = customer.subscriber.allItems.map { customer.subscriber[$0] }
        let receipt = SimulatedReceipt(of: items, app: customer.subscriber.app, at: await store.now)
        // Nothing that a chain with a P-256 leaf cannot sign.
        guard let (bytes, isForged) = try? await store.signed(receipt) else { return "" }
        let text = String(decoding: Base64.standard.encode(bytes), as: UTF8.self)
        if !isForged { await store.issued(text, to: id) }
        return text
    }

    /// Answers verifyReceipt.
    func answer(_ call: Call, _ store: SimulatedAppStore) async throws(Refusal) -> JSONValue {
        _ = await store.look()
        if let refusal = await store.provocation(call.path) {
            guard let status = refusal.code else { throw refusal }
            return .members([
                "status": .integer(status), "environment": .string(call.place.rawValue),
                "is-retryable": (21_100...21_199).contains(status) ? .bool(refusal.isRetryable ?? true) : nil,
            ])
        }
        guard call.method == "POST", let body = try? call.object() else { return Self.status(21_000) }
        guard let text = body.string("receipt-data"), let bytes = Base64.standard.decode(Array(text.utf8)),
            !bytes.isEmpty
        else { return Self.status(21_002) }
        guard let id = await store.holder(of: text), let customer = await store.customers[id] else {
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
                "auto_renew_product_id": .string(renewal.autoRenewProductId),
                "product_id": .string(renewal.productId),
                "original_transaction_id": .string(renewal.originalTransactionId),
                "auto_renew_status": .string("\(renewal.autoRenewStatus)"),
                "expiration_intent": renewal.expirationIntent.map { JSONValue.string("\($0)") },
                "is_in_billing_retry_period": renewal.isInBillingRetryPeriod.map { JSONValue.string($0 ? "1" : "0") },
                "grace_period_expires_date_ms": grace.map(JSONValue.string),
            ])
        }
        return .members([
            "status": 0, "environment": .string(place.rawValue),
            "receipt": .members([
                "bundle_id": .string(bundleId), "request_date_ms": .string("\(await store.now)"),
                "receipt_type": .string(place == .sandbox ? "ProductionSandbox" : "Production"),
                "in_app": .array(items.map(Self.record)),
            ]),
            "latest_receipt": .string(await receipt(of: id, store)),
            "latest_receipt_info": .array(latest.map(Self.record)), "pending_renewal_info": .array(pending),
        ])
    }

    private static func status(_ status: Int64) -> JSONValue { ["status": .integer(status)] }

    private static func record(_ item: TransactionRecord) -> JSONValue {
        .members([
            "transaction_id": .string(item.transactionId),
            "original_transaction_id": .string(item.originalTransactionId),
            "product_id": .string(item.productId), "quantity": .string("\(item.quantity)"),
            "purchase_date_ms": .string("\(item.purchaseDate)"),
            "original_purchase_date_ms": .string("\(item.originalPurchaseDate)"),
            "expires_date_ms": item.expiresDate.map { JSONValue.string("\($0)") },
            "cancellation_date_ms": item.revocationDate.map { JSONValue.string("\($0)") },
            "cancellation_reason": item.revocationReason.map { JSONValue.string("\($0)") },
            "is_trial_period": .string(item.offer?.discountType == "FREE_TRIAL" ? "true" : "false"),
            "is_in_intro_offer_period": .string(
                item.offer?.kind == .introductory && item.offer?.discountType != "FREE_TRIAL" ? "true" : "false"),
            "in_app_ownership_type": .string(item.inAppOwnershipType),
            "web_order_line_item_id": item.webOrderLineItemId.map(JSONValue.string),
            "subscription_group_identifier": item.subscriptionGroupIdentifier.map(JSONValue.string),
            "app_account_token": item.appAccountToken.map(JSONValue.string),
        ])
    }
}

extension SimulatedAppStore {
    /// Remembers a receipt that was handed out.
    func issued(_ receipt: String, to customer: String) { receipts[Self.digest(receipt)] = customer }

    /// The customer a receipt belongs to; nil where it was never handed out.
    func holder(of receipt: String) -> String? { receipts[Self.digest(receipt)] }

    private static func digest(_ receipt: String) -> String {
        String(decoding: Base64.url.encode(Array(SHA256.hash(data: Array(receipt.utf8)))), as: UTF8.self)
    }
}
