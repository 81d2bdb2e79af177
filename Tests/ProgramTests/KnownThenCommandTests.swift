import Base
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook account --known-at and subscription --known-at")
struct KnownThenCommandTests {
    private static let catalog = """
        app: com.example.app
        tiers:
          - id: free
          - id: pro
        products: []
        """

    /// The database's clock, once it has moved on from what was recorded before.
    private func now(_ site: Site) async throws -> String {
        let row = try await site.pool.query("select clock_timestamp() from pg_sleep(0.01)").one()
        return Timestamp(try row.decode(0, as: PostgresTimestamp.self)).description
    }

    @Test("account shows what was known then, and refuses what cannot be answered")
    func account() async throws {
        try await withSite { site in
            let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).yaml").path
            #expect(FileManager.default.createFile(atPath: path, contents: Data(Self.catalog.utf8)))
            let before = try await now(site)
            #expect(try await site.run("catalog", "apply", path, "--patience", "30").ending == .exited(0))
            let nothing = try await now(site)
            #expect(
                try await site.run("grant", "alice", "--tier", "pro", "--days", "9", "--why", "why").ending
                    == .exited(0))
            let granted = try await now(site)
            #expect(try await site.run("revoke", "alice", "--why", "fraud").ending == .exited(0))
            let then = try await site.run("account", "alice", "--known-at", granted, "--format", "json")
            let answer = try #require(try then.json() as? [String: Any])
            #expect(answer["status"] as? String == "active" && answer["known_at"] as? String == granted, "\(then)")
            #expect((answer["acts"] as? [Any])?.count == 1)
            // An instant of its own: what was foreseen then.
            let later = try await site.run(
                "account", "alice", "--known-at", granted, "--at", "2126-01-01", "--format", "table")
            #expect(later.output.contains("expired") && later.output.contains("applied by \(granted)"), "\(later)")
            #expect(try await site.run("account", "alice", "--format", "table").output.contains("revoked"))
            for (instant, why) in [
                (before, "no catalog had been applied by \(before)"), (nothing, "nothing was known of account alice"),
                ("2126-01-01", "lies in the future"),
            ] {
                let refused = try await site.run("account", "alice", "--known-at", instant)
                #expect(refused.ending == .exited(1) && refused.errors.contains(why), "\(refused)")
            }
            #expect(try await site.run("account", "alice", "--known-at", "soon").ending == .exited(2))
            #expect(try await site.run("account", "erase", "alice").ending == .exited(0))
            let erased = try await site.run("account", "alice", "--known-at", granted)
            #expect(erased.ending == .exited(1) && erased.errors.contains("is forgotten"), "\(erased)")
        }
    }

    @Test("subscription refuses what was not known then, and goes without --as-learned")
    func subscription() async throws {
        try await withSite { site in
            let now = try await now(site)
            let unknown = try await site.run("subscription", "1001", "--known-at", now)
            #expect(
                unknown.ending == .exited(1)
                    && unknown.errors.contains("nothing was known of original transaction 1001 by \(now)"), "\(unknown)"
            )
            let both = try await site.run("subscription", "1001", "--known-at", now, "--as-learned")
            #expect(both.ending == .exited(2) && both.errors.contains("--known-at"), "\(both)")
            try await site.pool.query(
                """
                insert into storehook.outbox_dropped (day, received, applied, duplicate, parked, discarded)
                values ('2026-01-31', 0, 0, 0, 0, 0)
                """)
            let dropped = try await site.run("subscription", "1001", "--known-at", "2026-01-31")
            #expect(
                dropped.ending == .exited(1)
                    && dropped.errors.contains("what was known before 2026-02-01T00:00:00Z cannot be answered"),
                "\(dropped)")
        }
    }
}
