import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import Base
import Foundation

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
            let bought = try await calls.post(
                "purchases", ["productId": "com.example.storehook.basic.weekly", "environment": "Sandbox"])
            guard let id = bought["originalTransactionId"]?.asText else {
                throw trouble("has no original transaction")
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
        try await calls.post("refunds", ["transactionId": .string(second.transactionId)])
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
        try await Task { try await calls.post("loss", ["rate": .integer(percent)])["formerRate"]?.asInteger ?? 0 }.value
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

    private var calls: StandInCalls { StandInCalls(url: url) }

    private func trouble(_ what: String) -> CommandFailure { calls.trouble(what) }
}
