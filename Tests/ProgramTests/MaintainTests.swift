import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("storehook maintain")
struct MaintainTests {
    @Test("drops what is too old; the books balance, and what is asked of gone bytes gets a clear answer")
    func drop() async throws {
        try await withSite { site in
            var subscriber = SimulatedSubscriber(lane: 1, seed: 1)
            subscriber.buy(.premiumMonthly, at: Site.now)
            let notification = subscriber.takeNotifications()[0]
            let line = try #require(notification.transaction?.originalTransactionId)
            let jws = notification.signed(by: site.authority)
            try await site.outbox.store([Array(jws.utf8)])
            try await site.with(["work"]) { _ in try await site.untilDone() }
            try await site.pool.withTransaction { try $0.executeScript(agedOutbox) }
            let raw = try await site.run("notification", notification.uuid, "--raw")
            #expect(raw.ending == .exited(0) && raw.output == jws)

            let kept = try await site.run("maintain", "--format", "table")
            #expect(kept.ending == .exited(0) && kept.output.hasPrefix("partitions stand ready\ncounted "), "\(kept)")
            let week = ["STOREHOOK_RETENTION_DAYS": "7"]
            let dryRun = try await site.run("maintain", "--dry-run", "--format", "json", with: week)
            let days = try #require(try dryRun.json() as? [String])
            let done = try await site.run("maintain", "--format", "json", with: week)
            #expect(done.ending == .exited(0), "\(done.errors)")
            let report = try #require(try done.json() as? [String: Any])
            let dropped = try #require(report["days"] as? [[String: Any]])
            #expect(dropped.compactMap { $0["day"] as? String } == days)
            #expect(dropped.compactMap { $0["outcome"] as? String } == ["dropped"])
            #expect(dropped.compactMap { $0["gone"] as? Int } == [1])
            let usage = try #require(report["usage"] as? [String: Any])
            #expect(usage["counters"] as? Int == 0 && usage["keys"] as? Int == 0)
            try await site.pool.query(
                """
                insert into storehook.usage_counters (token, feature, period, starts_on, resets_at, used)
                values (gen_random_uuid(), 'a', 'day', current_date - 50, now() - interval '40 days', 1)
                """)
            for age in [5, 15] {
                try await site.pool.query(
                    """
                    insert into storehook.purchase_attempts (token, product_id, kind, outcome, at)
                    values (gen_random_uuid(), 'a', 'purchase', 'failed', now() - make_interval(days => \(Int32(age))))
                    """)
            }
            try await site.pool.query(
                """
                insert into storehook.usage_keys (token, feature, key, act, amount, used, period, starts_on, kept_until)
                select gen_random_uuid(), 'a', gen_random_uuid(), 'add', 1, 1, 'total', '-infinity',
                       now() + days * interval '1 day' from unnest(array[-2, -1, 1]) days
                """)
            // Each but the last is superseded by the next.
            for text in ["one", "two", "three", "four"] {
                try await site.pool.query(
                    """
                    insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
                    values ('ann', \(UUID(uuidString: "42ca334f-18cb-59e1-9616-a1dca64eb9b4")), true, \(text), 'the app')
                    """)
            }
            try await site.pool.query(
                """
                update storehook.consents_superseded
                   set at = now() - interval '15 days' where id in (select id from storehook.consents_superseded order by id limit 2)
                """)
            try await site.pool.query(
                """
                insert into storehook.write_budgets (token, day, bytes)
                select gen_random_uuid(), current_date - days, 1 from unnest(array[0, 3, 4, 5]) days
                """)
            let over = try await site.run("maintain", "--format", "table")
            #expect(over.output.contains("threw away 1 counters of usage and 2 keys"), "\(over)")
            #expect(!over.output.contains("attempts to buy"), "\(over)")
            #expect(try await site.value("select count(*) from storehook.write_budgets", as: Int64.self) == 1)
            let ten = try await site.run("maintain", "--format", "table", with: ["STOREHOOK_HISTORY_DAYS": "10"])
            #expect(ten.output.contains("threw away 1 attempts to buy and 2 superseded consents"), "\(ten)")
            #expect(try await site.value("select count(*) from storehook.consent_texts", as: Int64.self) == 2)

            let books = try await site.run("queue", "--conservation", "--format", "table")
            #expect(books.ending == .exited(0) && books.output.contains("received 1, pending 0, applied 1"), "\(books)")
            let gone = try await site.run("notification", notification.uuid, "--raw")
            #expect(gone.ending == .exited(1) && gone.output.isEmpty)
            #expect(gone.errorLines == 1 && gone.errors.contains("dropped since by retention"), "\(gone.errors)")
            let decoded = try await site.run("notification", notification.uuid)
            let answer = try #require(try decoded.json() as? [String: Any])
            #expect(answer["payload"] is NSNull && answer["place"] as? Int == 1)
            let story = try await site.run("subscription", line)
            #expect(story.ending == .exited(0) && story.output.contains("SUBSCRIBED"))
            let check = try await site.run("rebuild", "--check")
            #expect(check.ending == .exited(0), "\(check)")
            #expect(check.output.contains("1 notifications' bytes were dropped by retention"), "\(check.output)")
        }
    }
}
