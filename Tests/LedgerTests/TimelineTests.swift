import AppStorePayloads
import Ledger
import Postgres
import Simulator
import TestSupport
import Testing

@Suite("The timeline")
struct TimelineTests {
    private static let start: Int64 = 1_749_990_400_000
    private static func day(_ day: Int64) -> Int64 { start + day * 86_400_000 }

    /// A life in twelve notifications.
    private static func life() throws -> [Arrival] {
        var anna = SimulatedSubscriber(lane: 1, seed: 1)
        let line = anna.buy(.basicMonthly, offer: .freeWeek, at: day(0))
        let trial = anna.latest(of: line)
        anna.renew(line)
        anna.switchAutoRenew(line, on: false, at: day(20))
        anna.switchAutoRenew(line, on: true, at: day(25))
        anna.failToRenew(line, grace: .dated)
        anna.recover(line, at: day(40))
        anna.upgrade(line, to: .premiumMonthly, at: day(45))
        anna.requestRefund(of: trial, at: day(47))
        anna.refund(trial, at: day(49))
        anna.switchAutoRenew(line, on: false, at: day(60))
        anna.expire(line)
        anna.resubscribe(line, to: .basicMonthly, at: day(80))
        return try anna.takeNotifications().map { try Arrival($0, in: .example) }
    }

    private func rows(_ database: LedgerDatabase) async throws -> [String] {
        try await database.connection.query(
            """
            select n.type || '/' || coalesce(n.subtype, '-') || ': ' || coalesce(c.status_before, 'new') || ' -> '
                       || c.status_after || ' '
                       || coalesce((select string_agg(key, ', ' order by key) from jsonb_object_keys(c.changes) key), '')
              from storehook.subscription_changes c
              join storehook.notifications n using (notification_uuid)
             order by c.id
            """
        ).map { try $0.decode(0) }
    }

    @Test("of twelve notifications reads like the story they tell")
    func story() async throws {
        let told = try Self.life()
        try await LedgerDatabase.with { database in
            for arrival in told { try await database.apply([arrival.entry()]) }
            #expect(
                try await rows(database) == [
                    "SUBSCRIBED/INITIAL_BUY: new -> trial "
                        + "expires_at, in_trial, paid_until, price_increase_pending, product_id, renewal_product_id, status, will_renew",
                    // Charged before the trial's end.
                    "DID_RENEW/-: trial -> trial paid_until",
                    "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED: trial -> cancelled expires_at, in_trial, status, will_renew",
                    "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED: cancelled -> active status, will_renew",
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD: active -> grace_period expiration_intent, status",
                    "DID_RENEW/BILLING_RECOVERY: grace_period -> active expiration_intent, expires_at, paid_until, status",
                    "DID_CHANGE_RENEWAL_PREF/UPGRADE: active -> active "
                        + "expires_at, paid_until, product_id, renewal_product_id",
                    // About an old period.
                    "CONSUMPTION_REQUEST/-: active -> active ",
                    "REFUND/-: active -> active ",
                    "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED: active -> cancelled status, will_renew",
                    "EXPIRED/VOLUNTARY: cancelled -> expired expiration_intent, status",
                    "SUBSCRIBED/RESUBSCRIBE: expired -> active "
                        + "expiration_intent, expires_at, paid_until, product_id, renewal_product_id, status, will_renew",
                ])
        }
    }

    @Test("names the values before and after, as the columns have them")
    func values() async throws {
        let told = try Self.life()
        try await LedgerDatabase.with { database in
            try await database.apply(told.prefix(3).map { $0.entry() })
            let changes = try await database.connection.query(
                """
                select changes->'status' = '["trial","cancelled"]' and changes->'will_renew' = '["true","false"]'
                       and changes->'in_trial' = '["true","false"]'
                  from storehook.subscription_changes order by id desc limit 1
                """)
            #expect(try changes.one().decode(0, as: Bool.self))
        }
    }

    @Test("has a row without changes for a notification that came too late to change anything")
    func late() async throws {
        var told = try Self.life()
        let late = told.remove(at: 2)
        try await LedgerDatabase.with { database in
            for arrival in told { try await database.apply([arrival.entry()]) }
            try await database.apply([late.entry()])
            let row = try await database.connection.query(
                "select status_before, status_after, changes::text from storehook.subscription_changes order by id desc limit 1"
            ).one()
            #expect(try row.decode("changes", as: String.self) == "{}")
            #expect(try row.decode("status_before", as: String.self) == "active")
            #expect(try row.decode("status_after", as: String.self) == "active")
        }
    }

    @Test("has no gaps: each row begins with the status that the one before it ended with, in any order of arrival")
    func chain() async throws {
        var generator = TestSupport.SeededGenerator()
        let stories = try Story.catalogue.map { try Arrival.all(of: $0.performed()) }
        try await LedgerDatabase.with { database in
            for (run, told) in (stories + stories).enumerated() {
                let order = run < stories.count ? told : told.shuffled(using: &generator)
                for batch in order.map({ $0.entry(run: run) }).batches(of: 1...3, using: &generator) {
                    try await database.apply(batch)
                }
            }
            let gaps = try await database.connection.query(
                """
                select notification_uuid::text
                  from (select *, lag(status_after) over (partition by environment, bundle_id, original_transaction_id
                                                          order by id) as previous
                          from storehook.subscription_changes) c
                 where status_before is distinct from previous
                    or (status_before is distinct from status_after) <> coalesce(changes ? 'status', false)
                """)
            #expect(gaps.isEmpty, "seed \(generator.seed)")
            #expect(try await database.count("select count(*) from storehook.subscription_changes") > 400)
        }
    }
}
