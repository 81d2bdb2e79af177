import AccountStore
import Accounts
import AppStorePayloads
import AppleRecords
import Base
import Foundation
import Postgres
import TestSupport
import Testing

/// What upkeep takes away of what accounts' callers wrote, and what it leaves.
struct WrittenUpkeepTests {
    @Test func `A consent that an answer to Apple rests on stays, and so does what counts and what is young`()
        async throws
    {
        try await AccountDatabase.with { database in
            let consents = Consents(database.pool)
            for (person, texts) in [("ann", ["one", "two", "three"]), ("bob", ["two", "three"]), ("cid", ["four"])] {
                for text in texts {
                    _ = try await consents.record(
                        AccountIdentity(named: person), granted: true, text: text, by: "app", isBudgeted: true)
                }
            }
            try await database.pool.query(
                """
                insert into storehook.consumption_answers
                       (notification_uuid, environment, bundle_id, signed_at, deadline, began_at, answer, consent_id)
                select gen_random_uuid(), 'Production', 'com.example.app', now(), now(), now(), '{}', c.id
                  from storehook.consumption_consents c join storehook.consent_texts t on t.id = c.text_id
                 where t.text = 'one'
                """)
            #expect(try await consents.dropSuperseded(keeping: 1) == 0)
            try await database.pool.query(
                """
                update storehook.consents_superseded s set at = at - interval '2 days' from storehook.consumption_consents c
                 where c.id = s.id and c.account = 'ann'
                """)
            #expect(try await consents.dropSuperseded(keeping: 2) == 1)
            #expect(try await consents.history(of: "ann").map(\.text) == ["three", "one"])
            #expect(try await consents.history(of: "bob").map(\.text) == ["three", "two"])
            #expect(try await consents.history(of: "cid").map(\.text) == ["four"])
            #expect(try await database.count("consent_texts") == 4)
            // It is not looked at again.
            #expect(try await database.count("consents_superseded") == 1)
            for days in [0, -1] {
                await #expect(throws: PostgresError.self) { try await consents.dropSuperseded(keeping: days) }
            }
        }
    }

    @Test func `Attempts go in portions, the oldest first, and the young ones stay`() async throws {
        try await AccountDatabase.with { database in
            try await database.pool.query(
                """
                insert into storehook.purchase_attempts (token, product_id, kind, outcome, at)
                select gen_random_uuid(), 'basic', 'purchase', 'failed',
                       now() - case when n <= 11000 then interval '91 days' else interval '89 days' end
                  from generate_series(1, 11010) n
                """)
            async let here = database.store.dropAttempts(keeping: 90)
            async let there = database.store.dropAttempts(keeping: 90)
            #expect(try await here + there == 11_000)
            #expect(try await database.count("purchase_attempts") == 10)
        }
    }

    @Test func `Each portion of old attempts is gone by itself, while another transaction holds a row of a later one`()
        async throws
    {
        try await AccountDatabase.with { database in
            try await database.pool.query(
                """
                insert into storehook.purchase_attempts (token, product_id, kind, outcome, at)
                select gen_random_uuid(), 'basic', 'purchase', 'failed', now() - interval '91 days' from generate_series(1, 11000)
                """)
            let held = try await HeldTransaction(
                in: database.database, "select 1 from storehook.purchase_attempts order by id desc limit 1 for update")
            async let dropped = database.store.dropAttempts(keeping: 90)
            try await eventually("two portions are gone") {
                try await database.count("purchase_attempts") == 1000
            }
            try await held.release()
            #expect(try await dropped == 11_000)
        }
    }
}

extension AccountDatabase {
    /// How many rows a table has.
    func count(_ table: String) async throws -> Int64 {
        try await value("select count(*) from storehook.\(unescaped: table)")
    }
}
