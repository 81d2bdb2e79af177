import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook purchases")
struct PurchasesCommandTests {
    @Test("list shows what apps have reported, a page after the other, and nothing that moves a terminal")
    func list() async throws {
        try await withSite { site in
            let none = try await site.run("purchases", "list", "--format", "table")
            #expect(none.ending == .exited(0) && none.output == "nothing was reported\n", "\(none)")
            try await site.pool.query(
                """
                insert into storehook.purchase_attempts
                       (token, product_id, kind, outcome, reason, transaction_id, environment, at)
                select t.token::uuid, t.product_id, t.kind, t.outcome, t.reason, t.transaction_id, t.environment,
                       '2026-01-31T12:00:00Z'
                  from (values
                       ('8c1aa1a3-5796-5a41-af00-ab65ff930c25', 'com.example.monthly', 'purchase', 'cancelled', null, null, null),
                       ('8c1aa1a3-5796-5a41-af00-ab65ff930c25', null, 'restore', 'nothing', null, null, 'Sandbox'),
                       ('8c1aa1a3-5796-5a41-af00-ab65ff930c26', E'a\\x1b[2J', 'purchase', 'failed', E'no\\nmoney', '21', 'Production')
                       ) t (token, product_id, kind, outcome, reason, transaction_id, environment)
                """)
            try await site.pool.query(
                """
                insert into storehook.accounts (token, account)
                values ('8c1aa1a3-5796-5a41-af00-ab65ff930c25', 'alice')
                """)
            let table = try await site.run("purchases", "list", "--format", "table")
            #expect(
                table.output == """
                    ID  REPORTED              ACCOUNT                                     KIND      OUTCOME    PRODUCT              TRANSACTION  ENVIRONMENT  REASON
                     3  2026-01-31T12:00:00Z  token:8c1aa1a3-5796-5a41-af00-ab65ff930c26  purchase  failed     "a [2J"              21           Production   "no money"
                     2  2026-01-31T12:00:00Z  alice                                       restore   nothing    -                    -            Sandbox      -
                     1  2026-01-31T12:00:00Z  alice                                       purchase  cancelled  com.example.monthly  -            -            -

                    """, "\(table)")
            let first = try await site.run("purchases", "list", "--limit", "2", "--format", "table")
            #expect(first.output.hasSuffix("\n\nthere are earlier ones: --before 2\n"), "\(first)")
            let answer = try #require(
                try await site.run("purchases", "list", "--account", "alice", "--limit", "1", "--format", "json").json()
                    as? [String: Any])
            let attempt = try #require((answer["attempts"] as? [[String: Any]])?.first)
            #expect(answer["next"] as? Int == 2 && attempt["id"] as? Int == 2)
            #expect(attempt["account"] as? String == "alice" && attempt["outcome"] as? String == "nothing")
            #expect(attempt["app_account_token"] as? String == "8c1aa1a3-5796-5a41-af00-ab65ff930c25")
            #expect(attempt["environment"] as? String == "Sandbox" && attempt["product_id"] == nil)
            let rest = try await site.run(
                "purchases", "list", "--account", "alice", "--before", "2", "--kind", "purchase", "--outcome",
                "cancelled")
            #expect(rest.output.contains("com.example.monthly") && !rest.output.contains("next"), "\(rest)")
            for wrong in [["--before", "0"], ["--limit", "0"], ["--outcome", "stolen"], ["--account", ""]] {
                #expect(
                    try await site.run("purchases", "list", wrong[0], wrong[1]).ending == .exited(2), "\(wrong)")
            }
        }
    }
}
