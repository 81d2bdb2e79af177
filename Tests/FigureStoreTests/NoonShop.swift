import AppStorePayloads
import Base
import OrderSupport
import PurchaseStore

/// A small shop with two accounts. Its periods run from noon to noon.
protocol NoonShop {}

extension NoonShop {
    static var account: UniqueIdentifier { UniqueIdentifier(high: 0x1111_1111_1111_4111, low: 0x8111_1111_1111_1111) }
    static var other: UniqueIdentifier { UniqueIdentifier(high: 0x2222_2222_2222_4222, low: 0x8222_2222_2222_2222) }

    static func noon(_ day: String) -> Timestamp { Timestamp(iso8601: "\(day)T12:00:00Z") ?? .distantPast }

    /// A period, and with a status what Apple reports of a failed charge.
    static func paid(
        _ line: String, as id: String? = nil, _ from: String, _ until: String, _ product: String = "basic",
        price: Int64 = 9_990, _ currency: String = "USD", of account: UniqueIdentifier? = nil, first: String? = nil,
        signed: String? = nil, refunded: String? = nil, app: String = Shop.app, environment: String = "Production",
        status: AppleStatus? = nil, grace: String? = nil, _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        let signed = noon(signed ?? from)
        let renewal = status.map { _ in
            RenewalInfoPayload(
                originalTransactionId: line, signedDate: signed, productId: product, autoRenewProductId: product,
                autoRenewStatus: .on, expirationIntent: .billing, isInBillingRetryPeriod: true,
                gracePeriodExpiresDate: grace.map { noon($0) })
        }
        return Shop.entry(
            line, id, at: noon(from), days: noon(until).milliseconds(since: noon(from)) / 86_400_000, product: product,
            renewal: id != nil, price: price, first: noon(first ?? from), signed: signed, app: app,
            environment: environment, status: status, renewalInfo: renewal
        ) { payload in
            (payload.appAccountToken, payload.currency) = (account, currency)
            payload.revocationDate = refunded.map { noon($0) }
            change(&payload)
        }
    }
}
