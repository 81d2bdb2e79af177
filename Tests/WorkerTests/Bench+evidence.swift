import AppStorePayloads
import Base
import EvidenceStore
import Postgres
import Simulation
import StandInSupport
import Subscriptions
import TestSupport

extension Bench {
    /// A year of one subscriber, told.
    static func life(lane: Int = 1) -> [UnsignedNotification] {
        var customer = SimulatedSubscriber(app: app, lane: lane, seed: UInt64(lane))
        let line = customer.buy(.basicMonthly, at: now - 100 * 86_400_000)
        customer.renew(line)
        customer.switchAutoRenew(line, on: false, at: now - 60 * 86_400_000)
        customer.expire(line)
        return customer.takeNotifications()
    }

    /// The records in a notification, each by itself.
    func records(_ notification: UnsignedNotification, from source: EvidenceSource = .api) -> [Evidence] {
        let parts: [(EvidenceKind, [UInt8]?)] = [
            (.transaction, notification.transaction?.json), (.renewal, notification.renewal?.json),
        ]
        return parts.compactMap { kind, json in
            json.map { Evidence(kind, from: source, Array(authority.sign($0).utf8)) }
        }
    }

    /// Lets everything that waits be due, and done.
    func workOffAll() async throws {
        try await withWorker { _ in
            try await eventually("all of it is done") {
                try await pool.query("update storehook.outbox_queue set due_at = now() where lease_token is null")
                return try await value("select count(*) from storehook.outbox_queue", as: Int64.self) == 0
            }
        }
    }
}
