import AppStorePayloads
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Postgres
import PurchaseStore
import Simulation

extension DemoRun {
    /// What became of the notifications that were posted here, once nothing is pending. By their UUIDs, which are new each time: so
    /// neither what a shop posts meanwhile nor what died before hides or spoils anything.
    /// - Returns: how many are in no place, and how many are dead letters.
    func fate(
        of simulation: Simulation, _ pool: PostgresPool, since began: Timestamp
    ) async throws -> (lost: Int, dead: Int) {
        // The database's clock may be another one.
        let filter = DeadLetterFilter(since: PostgresTimestamp(began.adding(days: -1)))
        let buried = try await Set(Outbox(pool).deadLetters(filter, limit: 100_000).compactMap(\.notificationUUID))
        let history = History(pool)
        var letters: [HistoryPage.Letter] = []
        var (lost, dead) = (0, 0)
        for delivery in simulation.deliveries where !delivery.isDuplicate {
            guard let uuid = UUID(uuidString: delivery.notification.uuid) else { continue }
            guard !buried.contains(uuid) else {
                dead += 1
                continue
            }
            // No bytes: they only serve to recognise letters that are pending, and none is.
            letters.append(HistoryPage.Letter(notificationUUID: uuid, bytes: []))
            guard letters.count == 1000 else { continue }
            let missing = try await history.missing(letters)
            lost += missing.count
            letters = []
        }
        let missing = try await history.missing(letters)
        return (lost + missing.count, dead)
    }
}
