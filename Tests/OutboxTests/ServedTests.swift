import AppStorePayloads
import Base
import EvidenceStore
import Postgres
import TestSupport
import Testing

@Suite("Whom a database serves")
struct ServedTests {
    private static let purchases = ServedApps(apps: [.init("com.example.app", in: .production)])
    private static let homemade = ServedApps(apps: [.init("com.example.app", in: .xcode)])

    @Test("is added to, but for what must not meet what is there, of which nothing is added")
    func contradiction() async throws {
        try await withQueue { queue in
            #expect(try await queue.outbox.record(Self.purchases) == nil)
            let refused = try #require(try await queue.outbox.record(Self.homemade))
            #expect(refused.purchases == .production && refused.homemade == .xcode)
            #expect(try await queue.outbox.served() == Self.purchases)
        }
    }

    @Test("never contradicts itself, though two begin at once and neither can see the other")
    func together() async throws {
        try await withQueue { queue in
            // What a worker that is not done with it has read and written.
            let other = try await HeldTransaction(
                in: queue.database, as: TransactionOptions(isolation: .serializable),
                """
                insert into storehook.served_apps (environment, bundle_id)
                select 'Production', 'com.example.app' where not exists (select from storehook.served_apps)
                """)
            _ = try await queue.outbox.record(Self.homemade)
            do { try await other.release() } catch {
                #expect((error as? PostgresError)?.sqlState == .serializationFailure)
            }
            let served = try await queue.outbox.served()
            #expect(served.contradiction == nil && served.apps.count == 1, "\(served)")
        }
    }
}
