import AppStorePayloads
import Base
import Crypto
import Foundation
import Subscriptions
import Testing

/// Notifications that Apple really signed are not ours to publish; who has some sets `STOREHOOK_APPLE_SIGNED` to their directory.
@Suite(
    "Apple's own reportedStatus in real notifications",
    .enabled(
        if: ProcessInfo.processInfo.environment["STOREHOOK_APPLE_SIGNED"] != nil,
        "STOREHOOK_APPLE_SIGNED names no directory of notifications signed by Apple"))
struct AppleSamplesOracleTests {
    private let directory = URL(
        fileURLWithPath: ProcessInfo.processInfo.environment["STOREHOOK_APPLE_SIGNED"] ?? "/nowhere")

    /// The payload of a compact JWS; whether its signature is right is another suite's question.
    private func payload(_ jws: some StringProtocol) throws -> [UInt8] {
        let segments = jws.split(separator: ".")
        return try #require(segments.count == 3 ? Base64.url.decode(Array(segments[1].utf8)) : nil)
    }

    @Test("is what we derive at each one's signing, from those signed by then")
    func samples() throws {
        let files = try FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "jws" }
        let notifications = try files.map {
            try NotificationPayload.decode(payload(String(contentsOf: $0, encoding: .utf8)))
        }.sorted { $0.signedDate < $1.signedDate }

        var known: [PurchaseKey: PurchaseFacts] = [:]
        var compared = 0
        for notification in notifications {
            guard case .data(let data) = notification.part, let jws = data.signedTransactionInfo else { continue }
            let json = try payload(jws)
            let transaction = try TransactionPayload.decode(json)
            let purchase = PurchaseKey(
                environment: data.environment?.rawValue ?? "", bundleID: transaction.bundleId,
                originalTransactionID: transaction.originalTransactionId)
            known[purchase, default: PurchaseFacts()].merge(
                TransactionFact(
                    transaction, digest: Array(SHA256.hash(data: json)), asOf: notification.signedDate))
            if let jws = data.signedRenewalInfo {
                let json = try payload(jws)
                known[purchase, default: PurchaseFacts()].merge(
                    RenewalFact(
                        try RenewalInfoPayload.decode(json), digest: Array(SHA256.hash(data: json)),
                        asOf: notification.signedDate, reportedStatus: data.status.map { Int($0.rawValue) }))
            }
            guard let reportedStatus = data.status else { continue }
            let state = try #require(known[purchase].flatMap { SubscriptionState($0) })
            let status = try #require(state.status(at: notification.signedDate)).status
            #expect(
                Int64(status.appleStatus) == reportedStatus.rawValue,
                "\(notification.notificationType) signed \(notification.signedDate)")
            compared += 1
        }
        #expect(compared > 0)
    }
}
