import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Reported attempts to buy and to restore")
struct ReportedAttemptTests {
    @Test func `They are listed the latest first, a page after the other, of all accounts or of one`() async throws {
        try await AccountDatabase.with { database in
            for number in 1...23 {
                try await database.store.record(
                    PurchaseAttempt(
                        account: AccountToken.of(number % 3 == 0 ? "ann" : "bob"), productID: "p\(number)",
                        kind: .purchase, outcome: .failed))
            }
            try await database.pool.query(
                "insert into storehook.accounts (token, account) values (\(UUID(AccountToken.of("ann"))), 'ann')")
            for account in [nil, "ann"] as [String?] {
                var (seen, before) = ([ReportedAttempt](), Int64?.none)
                repeat {
                    let page = try await database.store.attempts(
                        .init(account: account.map { AccountToken.of($0) }), before: before, limit: 5)
                    #expect(page.attempts.count == 5 || page.next == nil)
                    seen += page.attempts
                    before = page.next
                } while before != nil
                let numbers = (1...23).reversed().filter { account == nil || $0 % 3 == 0 }
                #expect(seen.map(\.attempt.productID) == numbers.map { "p\($0)" })
                #expect(seen.map(\.accountID) == numbers.map { $0 % 3 == 0 ? "ann" : nil })
                #expect(seen.map(\.id) == seen.map(\.id).sorted(by: >))
            }
            // A page that ends with the last one has nothing after it.
            #expect(try await database.store.attempts(limit: 23).next == nil)
            #expect(try await database.store.attempts(limit: 22).next == 2)
        }
    }

    @Test func `Of a kind or an outcome each is found once, however few are looked through at a time`() async throws {
        try await AccountDatabase.with { database in
            var generator = SeededGenerator()
            var all: [PurchaseAttempt] = []
            for _ in 0..<60 {
                let kind = PurchaseAttempt.Kind.allCases.randomElement(using: &generator) ?? .purchase
                let outcomes = PurchaseAttempt.Outcome.allCases.filter { kind == .restore || $0 != .nothing }
                let attempt = PurchaseAttempt(
                    account: AccountToken.of(Bool.random(using: &generator) ? "ann" : "bob"), productID: "p",
                    kind: kind,
                    outcome: outcomes.randomElement(using: &generator) ?? .failed)
                try await database.store.record(attempt)
                all.append(attempt)
            }
            for _ in 0..<40 {
                let filter = ReportedAttemptFilter(
                    account: [nil, AccountToken.of("ann")].randomElement(using: &generator) ?? nil,
                    kind: ([nil] + PurchaseAttempt.Kind.allCases).randomElement(using: &generator) ?? nil,
                    outcome: ([nil] + PurchaseAttempt.Outcome.allCases).randomElement(using: &generator) ?? nil)
                let limit = Int.random(in: 1...9, using: &generator)
                let most = Int.random(in: 1...70, using: &generator)
                var (seen, before, pages) = ([PurchaseAttempt](), Int64?.none, 0)
                repeat {
                    let page = try await database.store.attempts(
                        filter, before: before, limit: limit, lookingThrough: most)
                    #expect(page.attempts.count <= limit)
                    if let before, let next = page.next { #expect(next < before) }
                    seen += page.attempts.map(\.attempt)
                    before = page.next
                    pages += 1
                } while before != nil && pages < 100
                let expected = all.reversed().filter { attempt in
                    (filter.account ?? attempt.account) == attempt.account
                        && (filter.kind ?? attempt.kind) == attempt.kind
                        && (filter.outcome ?? attempt.outcome) == attempt.outcome
                }
                #expect(seen == expected, "\(filter), \(limit) of \(most), seed \(generator.seed)")
            }
        }
    }

    @Test func `They are read out of an index, whatever their number, and no more than so many of them`() async throws {
        try await AccountDatabase.with { database in
            let ann = UUID(AccountToken.of("ann"))
            try await database.pool.query(
                """
                insert into storehook.purchase_attempts (token, product_id, kind, outcome)
                select case when n % 1000 = 0 then \(ann) else md5(n::text)::uuid end, 'p', 'purchase', 'failed'
                  from generate_series(1, 60000) n
                """, deadline: .seconds(60))
            try await database.pool.query("analyze storehook.purchase_attempts", deadline: .seconds(60))
            try await database.pool.query("select pg_stat_reset()")
            let store = database.store
            #expect(try await store.attempts(limit: 100).attempts.count == 100)
            #expect(try await store.attempts(before: 30_000, limit: 100).attempts.first?.id == 29_999)
            #expect(try await store.attempts(.init(account: AccountToken.of("ann")), limit: 100).attempts.count == 60)
            let none = try await store.attempts(.init(outcome: .nothing), limit: 100, lookingThrough: 500)
            #expect(none.attempts.isEmpty && none.next == 59_501)
            // Counters of what a backend has read are told when it is done with its work or goes.
            await database.pool.close()
            let observer = try await PostgresConnection.connect(to: database.database.configuration, logger: quiet)
            let (scans, fetched) = try await observer.query(
                """
                select seq_scan, idx_tup_fetch from pg_stat_user_tables
                 where schemaname = 'storehook' and relname = 'purchase_attempts'
                """
            ).map { (try $0.decode(0, as: Int64.self), try $0.decode(1, as: Int64.self)) }[0]
            await observer.close()
            #expect(scans == 0)
            // 101 twice, 60 of the account, and 500 with 501 of them again for where they end.
            #expect(fetched <= 1500, "\(fetched)")
        }
    }

    @Test func `What cannot be is refused by the table as well, and programs of the release before go on`() async throws
    {
        try await AccountDatabase.with { database in
            func insert(_ values: String) async throws {
                try await database.pool.query(
                    """
                    insert into storehook.purchase_attempts (token, product_id, kind, outcome)
                    values (gen_random_uuid(), \(unescaped: values))
                    """)
            }
            for values in ["null, 'purchase', 'failed'", "'p', 'purchase', 'nothing'", "'p', 'restore', 'perhaps'"] {
                let refusal = await #expect(throws: PostgresError.self, "\(values)") { try await insert(values) }
                #expect(refusal?.sqlState?.rawValue == "23514", "\(values)")
            }
            for values in ["'p', 'purchase', 'completed'", "'p', 'restore', 'failed'"] { try await insert(values) }
            #expect(try await database.store.attempts(limit: 9).attempts.map(\.attempt.productID) == ["p", "p"])
        }
    }
}
