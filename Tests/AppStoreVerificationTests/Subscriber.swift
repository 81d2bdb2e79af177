import AppStorePayloads
import AppStoreVerification
import Base
import Simulation

/// A subscriber's notification in pieces: a test may bend each before it is signed.
struct Subscriber {
    static let bundleId = "com.example.app"
    static let appAppleId: Int64 = 1_234_567_890
    /// 2026-01-02T03:04:05.678Z
    static let signedDate: Int64 = 1_767_323_045_678

    let authority: SimulatedAuthority
    /// Who signs the parts, where it is not the authority.
    var partsAuthority: SimulatedAuthority?

    var transaction: PayloadText = [
        "transactionId": "2000000900000002", "originalTransactionId": "2000000900000001",
        "webOrderLineItemId": "2000000100000001", "bundleId": "com.example.app", "productId": "com.example.app.monthly",
        "subscriptionGroupIdentifier": "21700001", "purchaseDate": 1_767_323_040_000,
        "originalPurchaseDate": 1_767_323_040_000, "expiresDate": 1_770_001_440_000, "quantity": 1,
        "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED", "signedDate": 1_767_323_045_600,
        "environment": "Sandbox", "transactionReason": "PURCHASE", "storefront": "USA", "storefrontId": "143441",
        "price": 9990, "currency": "USD", "appTransactionId": "704000000000000001",
        "appAccountToken": "7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10",
    ]
    var renewal: PayloadText = [
        "originalTransactionId": "2000000900000001", "autoRenewProductId": "com.example.app.monthly",
        "productId": "com.example.app.monthly", "autoRenewStatus": 1, "renewalPrice": 9990, "currency": "USD",
        "signedDate": 1_767_323_045_600, "environment": "Sandbox", "recentSubscriptionStartDate": 1_767_323_040_000,
        "renewalDate": 1_770_001_440_000,
    ]
    var data: PayloadText = [
        "appAppleId": 1_234_567_890, "bundleId": "com.example.app", "bundleVersion": "42", "environment": "Sandbox",
        "status": 1,
    ]
    var notification: PayloadText = [
        "notificationType": "SUBSCRIBED", "subtype": "INITIAL_BUY",
        "notificationUUID": "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7", "data": "", "version": "2.0",
        "signedDate": 1_767_323_045_678,
    ]
    var hasTransaction = true
    var hasRenewal = true

    init(_ authority: SimulatedAuthority) { self.authority = authority }

    /// The whole notification's JSON text.
    var payload: PayloadText {
        var data = data
        let signer = partsAuthority ?? authority
        if hasTransaction { data["signedTransactionInfo"] = .text(signer.sign(transaction.bytes)) }
        if hasRenewal { data["signedRenewalInfo"] = .text(signer.sign(renewal.bytes)) }
        var notification = notification
        notification["data"] = data
        return notification
    }

    /// The signed notification.
    var jws: [UInt8] { Array(authority.sign(payload.bytes).utf8) }

    /// All parts say that it happened in Production.
    mutating func moveToProduction() {
        data["environment"] = "Production"
        transaction["environment"] = "Production"
        renewal["environment"] = "Production"
    }

    /// A verifier that serves the app and trusts these authorities.
    static func verifier(
        trusting authorities: SimulatedAuthority..., change: (inout VerifierConfiguration) -> Void = { _ in }
    ) -> Verifier {
        var configuration = VerifierConfiguration(
            apps: [bundleId: appAppleId],
            trustedRoots: Set(authorities.compactMap { Fingerprint($0.rootFingerprint) }))
        change(&configuration)
        return Verifier(configuration: configuration, clock: { Timestamp(millisecondsSince1970: signedDate) })
    }
}

/// The code with which the work fails; nil where it does not.
func failure<Value>(_ work: () throws(VerificationFailure) -> Value) -> VerificationCode? {
    do {
        _ = try work()
        return nil
    } catch {
        return error.code
    }
}
