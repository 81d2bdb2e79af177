import Base
import Foundation
import Postgres
import Subscriptions

/// A stored attempt to buy, with its own row of `booked_orders`.
struct StoredAttempt: Sendable {
    /// The transaction that completes an attempt.
    struct Match: Sendable, Hashable {
        var orderID: Int64
        var item: String
    }

    /// The seconds after a report was booked at which its attempt is looked at once more: a transaction that was applied at that moment has
    /// committed by then.
    static let pause: Int64 = 60

    let matched: AttemptMatching.Attempt
    let orderID: Int64
    let productID: String
    let environment: String
    let writtenAt: Timestamp
    let match: Match?
    let isDue: Bool
    let status: String
    let classID: Int32?

    init(_ row: PostgresRow) throws {
        matched = AttemptMatching.Attempt(
            id: try row.decode("id"), bundleID: try row.decode("bundle_id"),
            outcome: try row.decode("outcome", among: AttemptMatching.Outcome.self),
            firstAt: Timestamp(try row.decode("first_at", as: PostgresTimestamp.self)),
            lastAt: Timestamp(try row.decode("last_at", as: PostgresTimestamp.self)))
        orderID = try row.decode("order_id")
        productID = try row.decode("product_id")
        environment = try row.decode("environment")
        writtenAt = Timestamp(try row.decode("written_at", as: PostgresTimestamp.self))
        match = try row.decode("matched_order_id", as: Int64?.self).map { id in
            Match(orderID: id, item: try row.decode("matched_item"))
        }
        isDue = try row.decode("is_due")
        status = try row.decode("status")
        classID = try row.decode("class_id")
    }

    var id: Int64 { matched.id }

    /// Its status where no transaction completes it.
    func status(at instant: Timestamp) -> OrderStatus {
        switch matched.outcome {
        case .failed: .failed
        case .cancelled: .cancelled
        case .pending: instant < matched.closesAt ? .pending : .cancelled
        }
    }

    /// When to look at it next by the clock.
    func nextCheck(after instant: Timestamp) -> Timestamp? {
        [writtenAt.adding(seconds: Self.pause), matched.closesAt].filter { $0 > instant }.min()
    }
}

extension OrderClass {
    /// The class of an attempt in lists. A product that the catalog lacks makes no class: an app may write anything in its place.
    static func attempt(
        environment: String, bundleID: String, productID: String, _ status: OrderStatus
    ) -> OrderClass {
        OrderClass(
            environment: environment, bundleID: bundleID, productID: bundleID.isEmpty ? "" : productID, plan: "unknown",
            status: status.rawValue)
    }

    /// The statuses of attempts.
    static let attemptStatuses: [OrderStatus] = [.pending, .failed, .cancelled]
}
