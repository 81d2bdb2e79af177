import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Base
import Foundation
import HTTPKit

/// The shop of a demonstration: a stand-in for Apple's servers, and one customer played by the demonstration.
struct DemoShop: Sendable {
    /// Where the stand-in is.
    let url: String
    /// Asks it as Apple is asked.
    let client: AppStoreClient
    /// How long one step of the customer's life may take.
    let patience: Duration

    /// The customer buys a week, which renews, and gets a refund of the second week. Apple's post of the purchase is
    /// lost.
    ///
    /// - Parameter tell: called with each step once it is done.
    /// - Returns: the original transaction.
    func play(_ tell: @Sendable (String) -> Void) async throws -> String {
        let start = WallClock.now().adding(days: -1)
        let former = try await setLoss(100)
        let original: String
        do {
            let bought = try await post(
                "purchases", #"{"productId":"com.example.storehook.basic.weekly","environment":"Sandbox"}"#)
            guard let id = bought.string("originalTransactionId") else {
                throw trouble("tells no original transaction")
            }
            original = id
            tell("a customer bought a week: original transaction \(original)")
            _ = try await attempted(.subscribed, of: original, since: start)
            tell("Apple's post of that was lost on its way")
        } catch {
            // Others want their posts.
            _ = try? await setLoss(former)
            throw error
        }
        _ = try await setLoss(former)
        let renewal = try await attempted(.didRenew, of: original, since: start)
        tell("the week was renewed")
        guard let second = renewal.record.payload.transaction else {
            throw trouble("renews without a transaction")
        }
        // Charged some seconds ahead, as Apple does; a refund before the period begins would not be realistic.
        let now = WallClock.now()
        let wait = (second.purchaseDate ?? now).millisecondsSince1970 - now.millisecondsSince1970
        try await Task.sleep(for: .milliseconds(min(max(0, wait), Int64(patience / .milliseconds(1)))))
        try await post("refunds", "{\"transactionId\":\"\(second.transactionId)\"}")
        _ = try await attempted(.refund, of: original, since: start)
        tell("the customer got the money of the second week back")
        return original
    }

    /// Sets the percentage of posts that are lost. Completes even if the demonstration is cancelled meanwhile: a
    /// temporary setting must be set back.
    /// - Returns: the percentage before.
    @discardableResult
    func setLoss(_ percent: Int64) async throws -> Int64 {
        // A task of its own is not cancelled with this one.
        try await Task { try await post("loss", "{\"rate\":\(percent)}").integer("formerRate") ?? 0 }.value
    }

    /// Waits until Apple has tried to post a notification, whether it arrived or not.
    private func attempted(
        _ type: NotificationType, of original: String, since start: Timestamp
    ) async throws -> ListedNotification {
        let end = ContinuousClock.now + patience
        while ContinuousClock.now < end {
            let request = ServerRequest.notificationHistory(
                from: start, to: WallClock.now().adding(days: 1), .transaction(original))
            let page = try await client.ask(request, in: .sandbox).value
            if let listed = page.notifications.first(where: {
                $0.record.payload.payload.notificationType == type && !$0.sendAttempts.isEmpty
            }) {
                return listed
            }
            try await Task.sleep(for: .milliseconds(500))
        }
        throw trouble(
            "has posted no \(type.rawValue) within \(patience / .seconds(1)) seconds; it may live too slowly, see --speed"
        )
    }

    /// What a person does in the shop.
    @discardableResult
    private func post(_ what: String, _ body: String) async throws -> JSONObject {
        var request = OutboundRequest(
            "POST", "\(url)/stand-in/\(what)", headers: [("Content-Type", "application/json")], body: Array(body.utf8))
        request.answerBody = .whole(upTo: 8 << 20)
        guard let answer = try? await OutboundClient.send(request) else { throw trouble("does not answer") }
        guard answer.status == 200, let object = try? JSONDocument(answer.body).object else {
            let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
            throw trouble("answers \(answer.status) to \(what): \(text)")
        }
        return object
    }

    private func trouble(_ what: String) -> CommandFailure { CommandFailure("the shop at \(url) \(what)") }
}
