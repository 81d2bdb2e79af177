import AccountStore
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import Subscriptions
import Synchronization
import TestSupport
import Testing

@Suite("Whoever follows what evidence changes")
struct PipelineTests {
    /// Notes what it is told, and what it finds in the database at that moment.
    private final class Follower: ChangeObserver {
        let seen = Mutex<[(purchases: [PurchaseKey], subscriptions: Int)]>([])
        let fails = Mutex(false)

        struct Failure: Error {}

        func observe(_ applied: EvidencePipeline.Applied, _ session: borrowing PostgresSession) throws {
            let count = try session.query("select from storehook.subscriptions").count
            seen.withLock { $0.append((applied.change.purchases, count)) }
            if fails.withLock(\.self) { throw Failure() }
        }
    }

    @Test("is called in the transaction that changes it, and what it throws rolls all of it back")
    func observer() async throws {
        try await withDesk { desk in
            let follower = Follower()
            let intake = desk.intake(observing: [follower])
            let before = try await desk.contents()
            follower.fails.withLock { $0 = true }
            let records = desk.records(desk.purchase())
            await #expect(throws: Follower.Failure.self) { try await intake.take(records) }
            #expect(try await desk.contents() == before)
            follower.fails.withLock { $0 = false }
            let (answers, applied) = try await intake.take(records)
            #expect(answers.map(\.words) == ["applied", "applied"])
            let seen = follower.seen.withLock(\.self)
            // Both times it saw the state that the evidence made.
            #expect(seen.map(\.subscriptions) == [1, 1])
            #expect(seen.map(\.purchases.count) == [1, 1] && seen[1].purchases == applied?.change.purchases)
            // A repeat changes nothing, and says so.
            _ = try await intake.take(records)
            #expect(follower.seen.withLock(\.self).last?.purchases == [])
        }
    }
}
