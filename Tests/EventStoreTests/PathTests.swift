import AccountStore
import Accounts
import AppStorePayloads
import AppleRecords
import Base
import EventStore
import Events
import Foundation
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// A transaction that changes an account also tells of the change.
@Suite("Every way to change an account is told")
struct PathTests {
    /// The last events of an account: kind, cause, and the tier and status that they tell, where they tell some.
    private func told(_ number: Int, _ site: EventDatabase) async throws -> [String] {
        try await site.pool.query(
            """
            select concat_ws(' ', kind, body -> 'cause' ->> 'kind', body -> 'access' ->> 'tier',
                             body -> 'access' ->> 'status', case when is_correction then 'correction' end)
              from (select *, ('{' || content || '}')::jsonb as body from storehook.events) e
             where token = \(UUID(token(number))) order by sequence
            """
        ).map { try $0.decode(0) }
    }

    @Test("acts of staff, each by its cause, and the trial")
    func acts() async throws {
        try await EventDatabase.with { site in
            let acts: [(StaffAct.Kind, String)] = [
                (.grant(tier: "pro", days: 3), "account.access_changed grant pro active"),
                (.revoke, "account.access_changed staff free revoked"),
                (.unrevoke, "account.access_changed staff pro active"),
            ]
            for (kind, expected) in acts {
                _ = try await site.pipeline.act(kind, for: "person-1", by: "desk", why: "asked")
                #expect(try await told(1, site).last == expected)
            }
            // Added days move the end of access, which is told, too.
            _ = try await site.pipeline.act(.extend(days: 2), for: "person-1", by: "desk", why: "asked")
            #expect(try await told(1, site).count == 4)
            guard case .started = try await site.pipeline.startTrial(of: "person-2") else {
                Issue.record("no trial")
                return
            }
            #expect(try await told(2, site) == ["account.access_changed trial pro trial"])
            #expect(try await site.aheadOfReads() == 0)
        }
    }

    @Test("a purchase that staff moves is told to both, and so is one that is freed")
    func moves() async throws {
        try await EventDatabase.with { site in
            try await site.apply([Records.period(purchase(1), from: -1, to: 29, account: token(1))])
            _ = try await site.pipeline.move(purchase(1), to: "person-2", by: "desk", why: "asked")
            #expect(
                try await told(1, site).suffix(2)
                    == ["subscription.transferred staff", "account.access_changed staff free free"])
            #expect(
                try await told(2, site)
                    == ["subscription.transferred staff", "account.access_changed staff pro active"])
            #expect(try await site.pipeline.erase("person-2", by: "desk")?.purchasesFreed == 1)
            let freed = try await told(2, site).suffix(2)
            // Access was there, and has ended.
            #expect(freed == ["subscription.transferred staff", "account.access_changed staff free free"])
            #expect(try await site.gaps() == 0)
        }
    }

    @Test("what was bought once and moves is told to both, whoever moves it, and so is one that is freed")
    func movesOfOneTimePurchases() async throws {
        try await EventDatabase.with { site in
            func kinds(_ number: Int) async throws -> [String] {
                try await told(number, site).filter { !$0.hasPrefix("account.") }
            }
            try await site.apply([Records.bought(purchase(1), account: nil)])
            let (accounts, events) = (site.accounts, site.events)
            func prove(_ number: Int) async throws {
                try await site.pool.withTransaction { session in
                    let bound = try accounts.bind([purchase(1)], to: "person-\(number)", under: .transfer, session)
                    try events.record([], proving: [purchase(1)], bound.settled, session)
                }
            }
            // It had no owner: no account lost it.
            try await prove(1)
            #expect(try await kinds(1).isEmpty)
            for _ in 0..<2 { try await prove(2) }
            #expect(try await kinds(1) == ["purchase.transferred client"])
            #expect(try await kinds(2) == ["purchase.transferred client"])
            _ = try await site.pipeline.move(purchase(1), to: "person-3", by: "desk", why: "asked")
            _ = try await site.pipeline.move(purchase(1), to: "person-3", by: "desk", why: "asked again")
            #expect(try await kinds(2) == ["purchase.transferred client", "purchase.transferred staff"])
            #expect(try await kinds(3) == ["purchase.transferred staff"])
            #expect(try await site.pipeline.erase("person-3", by: "desk")?.purchasesFreed == 1)
            #expect(try await kinds(3) == ["purchase.transferred staff", "purchase.transferred staff"])
            let body = try #require(try await site.feed().last { $0.kind == "purchase.transferred" })
            #expect(body.json(previousSequence: nil).contains(#""transferredTo":null"#))
            #expect(try await site.gaps() == 0)
        }
    }

    @Test("what a proof gives to an account is told by its client, once")
    func proof() async throws {
        try await EventDatabase.with { site in
            try await site.apply([Records.period(purchase(1), from: -1, to: 29, account: nil)])
            let (accounts, events) = (site.accounts, site.events)
            for _ in 0..<2 {
                try await site.pool.withTransaction { session in
                    let bound = try accounts.bind([purchase(1)], to: "person-1", under: .keep, session)
                    try events.record([], proving: [purchase(1)], bound.settled, session)
                }
            }
            #expect(try await told(1, site) == ["account.access_changed client pro active"])
            #expect(try await site.gaps() == 0)
        }
    }

    @Test("that Apple wants data about a purchase, and that it was answered, in the account's order")
    func consumption() async throws {
        try await EventDatabase.with { site in
            try await site.apply([Records.period(purchase(1), from: -1, to: 29, account: token(1))])
            try await site.apply([
                Records.span(
                    purchase(1), Records.now.adding(days: -1)..<Records.now.adding(days: 29), account: token(1),
                    type: .consumptionRequest, at: Records.now.adding(seconds: -60))
            ])
            let teller = ConsumptionEventObserver(site.events, site.accounts)
            try await site.pool.withTransaction { session in
                try teller.answered(about: purchase(1), "1", outcome: .answered, session)
            }
            #expect(
                try await site.told("token = \(UUID(token(1)))").suffix(2)
                    == ["3 consumption.requested", "4 consumption.answered"])
            let body = try #require(try await site.feed().last).json(previousSequence: 3)
            #expect(
                body.contains(
                    #""consumption":{"originalTransactionId":"10001","transactionId":"1","reason":null,"answer":"answered"}"#
                ))
            #expect(try await site.gaps() == 0)
        }
    }

    @Test("a rebuild tells only where something else was told than stands")
    func rebuild() async throws {
        try await EventDatabase.with { site in
            try await site.apply((1...2).map { Records.period(purchase($0), from: -1, to: 29, account: token($0)) })
            let pipeline = site.pipeline
            // Something broke one of them behind everybody's back.
            try await site.pool.query(
                """
                update storehook.subscriptions set phase_status = array_replace(phase_status, 'active', 'expired')
                 where original_transaction_id = \(purchase(1).originalTransactionID)
                """)
            try await site.pool.withTransaction { session in
                try Ledger.hold([purchase(1), purchase(2)], session)
                try pipeline.settle([purchase(1), purchase(2)], cause: .rebuild, session)
            }
            let mended = try await told(1, site).suffix(2)
            #expect(
                mended == [
                    "subscription.expired rebuild correction", "account.access_changed rebuild free free correction",
                ])
            #expect(try await told(2, site).count == 2)
        }
    }
}

extension EventDatabase {
    /// Orders of events that have a gap, or something twice.
    func gaps() async throws -> Int64 {
        try await value(
            """
            select count(*) from (
                select from storehook.events
                 group by token, environment, case when token is null then (original_transaction_id, bundle_id) end
                having count(*) <> max(sequence) or count(distinct sequence) <> count(*)) odd
            """)
    }

    /// Events whose version is above what a read shows now.
    func aheadOfReads() async throws -> Int64 {
        try await value(
            """
            select count(*) from storehook.events e
              left join storehook.account_status_now s using (token, environment)
             where e.token is not null and e.version > coalesce(s.version, 0)
            """)
    }
}
