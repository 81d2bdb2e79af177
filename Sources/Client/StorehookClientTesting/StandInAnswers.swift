import Foundation
import StorehookClient

/// What a customer's device holds, as the stand-in answers it: the part that was asked for.
struct StandInDevice: Decodable {
    var currentEntitlements: [StandInTransaction]?
    var unfinished: [StandInTransaction]?
}

/// A signed transaction, and of a subscription its signed renewal info.
struct StandInTransaction: Decodable {
    var signedTransactionInfo: String
    var signedRenewalInfo: String?

    /// The members of Apple's `JWSTransactionDecodedPayload` that a client reads. Dates are milliseconds since 1970.
    private struct Payload: Decodable {
        var transactionId: String
        var originalTransactionId: String
        var productId: String
        var purchaseDate: Double
        var expiresDate: Double?
        var revocationDate: Double?
        var isUpgraded: Bool?
        var appAccountToken: String?
    }

    /// As StoreKit would hand it to the app.
    func transaction() throws -> StoreTransaction {
        guard let data = Self.payload(of: signedTransactionInfo),
            let payload = try? JSONDecoder().decode(Payload.self, from: data)
        else { throw StandInError.unreadable("a transaction that is no compact JWS of Apple's") }
        func date(_ milliseconds: Double) -> Date { Date(timeIntervalSince1970: milliseconds / 1000) }
        return StoreTransaction(
            id: payload.transactionId, originalID: payload.originalTransactionId, productID: payload.productId,
            purchasedAt: date(payload.purchaseDate), expiresAt: payload.expiresDate.map(date),
            revokedAt: payload.revocationDate.map(date), isUpgraded: payload.isUpgraded ?? false,
            appAccountToken: payload.appAccountToken.flatMap(UUID.init(uuidString:)),
            signedTransactionInfo: signedTransactionInfo, signedRenewalInfo: signedRenewalInfo)
    }

    /// The middle part of a compact JWS, decoded.
    private static func payload(of signed: String) -> Data? {
        let parts = signed.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        return Data(base64Encoded: text + String(repeating: "=", count: (4 - text.count % 4) % 4))
    }
}
