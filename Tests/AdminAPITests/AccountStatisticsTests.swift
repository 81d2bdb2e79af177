import AccountStore
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Staff
import Subscriptions
import TestSupport
import Testing

/// How many accounts there are, for the desk.
struct AccountStatisticsTests {
    private static let path = "/admin/subscriptions/stats/overview"

    private func read(_ desk: RunningDesk, _ token: String, _ query: String = "") async throws -> ReadStatistics {
        let answer = try await desk.get(Self.path + query, token)
        #expect(answer.status == 200, "\(answer.body)")
        return try JSONDecoder().decode(ReadStatistics.self, from: Data(answer.body.utf8))
    }

    /// As the clock does, with no rest before.
    private func count(_ desk: RunningDesk) async throws {
        try await desk.observer.query("update storehook.account_count_state set due_at = '-infinity'")
        #expect(try await AccountStore(desk.observer).count())
    }

    @Test("The last count by tier and by status: the number of each, and accounts on trial apart")
    func numbers() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            let early = try await read(desk, token)
            #expect(early.countedAt == nil && early.totalUsers == 0)
            #expect(early.tiers.map(\.line) == ["free 0 0 -", "pro 0 0 -", "premium 0 0 -"])
            let names = [
                "active", "trial", "cancelled", "grace_period", "expired", "trial_expired", "revoked", "free",
            ]
            #expect(early.statuses.map(\.status) == names && early.statuses.allSatisfy { $0.users == 0 })

            // Beside the desk's two: an account on trial, one with an ended purchase, one without anything, and a purchase without an account.
            try await desk.buy([
                Desk.entry(Desk.purchase(3), "basic", for: Desk.token(3), number: 3) {
                    ($0.offerType, $0.offerDiscountType) = (.introductory, .freeTrial)
                },
                Desk.entry(Desk.purchase(4), "basic", for: Desk.token(4), number: 4) {
                    $0.expiresDate = $0.purchaseDate?.adding(days: 7)
                },
                Desk.entry(Desk.purchase(5), "basic", for: Desk.token(5), number: 5) { $0.appAccountToken = nil },
            ])
            try await desk.observer.query(
                "insert into storehook.accounts (token, account) values (gen_random_uuid(), 'somebody')")
            #expect(try await read(desk, token).totalUsers == 0, "not before they are counted")
            try await count(desk)
            let counted = try await read(desk, token)
            #expect(counted.countedAt != nil && counted.environment == "Production")
            #expect(counted.totalUsers == 5 && counted.freeUsers == 1 && counted.trialUsers == 1)
            #expect(counted.expiredUsers == 1 && counted.activeSubscribers == 2 && counted.anonymous == 1)
            #expect(counted.tiers.map(\.line) == ["free 2 0 40000", "pro 1 1 20000", "premium 1 0 20000"])
            #expect(
                counted.statuses.filter { $0.users > 0 }.map { "\($0.status) \($0.users)" }
                    == ["active 2", "trial 1", "expired 1", "free 1"])
            let sandbox = try await read(desk, token, "?environment=Sandbox")
            #expect(sandbox.environment == "Sandbox" && sandbox.totalUsers == 0 && sandbox.anonymous == 0)
            #expect(sandbox.countedAt == counted.countedAt && sandbox.tiers.allSatisfy { $0.share == nil })
            // A tier that the catalog has no more stays in the list until accounts are counted again.
            _ = try await AccountStore(desk.observer).apply(
                Desk.catalog.replacing("premium", with: "gold"), by: "cli:test")
            #expect(
                try await read(desk, token).tiers.map(\.line) == [
                    "free 2 0 40000", "pro 1 1 20000", "gold 0 0 0", "premium 1 0 20000",
                ])
            try await count(desk)
            #expect(
                try await read(desk, token).tiers.map(\.line)
                    == ["free 2 0 40000", "pro 1 1 20000", "gold 1 0 20000"])
        }
    }

    @Test("Accounts and usage by month and day, for every role and for staff of all apps of the catalog")
    func days() async throws {
        try await withDesk { desk in
            try await desk.observer.withTransaction {
                try $0.executeScript(
                    """
                    insert into storehook.account_days (day, zone, ends_at, counted_at, usage_counted_at)
                    values ('2025-02-28', 'UTC', '2025-03-01T00:00Z', '2025-03-01T00:01Z', '2025-04-06T00:00Z');
                    insert into storehook.account_day_counts (day, environment, standing, tier, status, count) values
                        ('2025-02-28', 'Production', 'subscriber', 'pro', 'active', 3),
                        ('2025-02-28', 'Production', 'access', 'pro', 'trial', 1);
                    insert into storehook.usage_days (day, feature, period, tier, is_over, accounts, used)
                    values ('2025-02-28', 'ai', 'day', 'pro', true, 2, 40);
                    """)
            }
            try await count(desk)
            let paths = ["/admin/subscriptions/stats/users", "/admin/subscriptions/stats/usage"]
            for role in StaffRole.allCases {
                let token = try await desk.member(role).token
                let users = try await desk.get("\(paths[0])?split=tier&from=2025-01-01&to=2025-02-28", token)
                #expect(users.status == 200 && users.body.contains(#""missing":1"#), "\(users.body)")
                for part in [
                    #""period":"2025-02","group":"pro","users":3,"onTrial":1,"share":75000,"onTrialShare":25000"#,
                    #""total":4"#, #""late":false"#,
                ] {
                    #expect(users.body.contains(part), "\(users.body)")
                }
                let usage = try await desk.get("\(paths[1])?by=day&from=2025-02-28&to=2025-02-28", token)
                #expect(
                    usage.status == 200
                        && usage.body.contains(#""feature":"ai","countedBy":"day","tier":"pro","used":40,"accounts":2"#)
                        && usage.body.contains(#""complete":true"#), "\(usage.body)")
                let now = try await desk.get("\(paths[0])?by=day", token)
                #expect(now.body.contains(#""running":true"#), "\(now.body)")
            }
            let some = try await desk.member(.admin, of: [Desk.app]).token
            let all = try await desk.member(.viewer, of: [Desk.app, Desk.other]).token
            for path in paths {
                #expect(try await desk.get(path, some).status == 403)
                #expect(try await desk.get(path, all).status == 200)
                #expect(try await desk.get(path).status == 401)
                #expect(try await desk.get("\(path)?from=2025-02-02&to=2025-02-01", all).status == 400)
                #expect(try await desk.get("\(path)?by=fiscal-month", all).status == 400, "days are of one zone")
                let many = try await desk.get("\(path)?by=day&from=1900-01-01", all)
                #expect(many.status == 400 && many.code == "too_many_cells", "\(many.body)")
            }
            #expect(try await desk.get("\(paths[0])?split=app", all).status == 400)
        }
    }

    @Test("The running period is by the catalog's time zone, also while figures stand in another one")
    func running() async throws {
        try await withDesk { desk in
            try await count(desk)
            // As while the days of the catalog's zone are being summed: another day runs in the zone of before.
            try await desk.observer.query(
                """
                update storehook.figure_state
                   set zone = case when extract(hour from now() at time zone 'UTC') < 11 then 'Etc/GMT+12' else 'Pacific/Kiritimati' end
                """)
            let token = try await desk.member(.viewer).token
            let answer = try await desk.get("/admin/subscriptions/stats/users?by=day", token)
            let today: String = try await desk.observer.query("select (now() at time zone 'UTC')::date::text").one()
                .decode(0)
            #expect(answer.body.contains(#""to":"\#(today)""#), "\(answer.body)")
            #expect(answer.body.contains(#""period":"\#(today)""#), "\(answer.body)")
        }
    }

    @Test("Accounts belong to no app: how many paid for the first time is refused to staff of some apps")
    func freeToPaid() async throws {
        try await withDesk { desk in
            let all = try await desk.member(.viewer).token
            let some = try await desk.member(.admin, of: [Desk.app]).token
            for path in ["/admin/figures/free_to_paid", "/admin/figures/free_to_paid/rows"] {
                #expect(try await desk.get(path, all).status == 200)
                let refused = try await desk.get(path, some)
                #expect(refused.status == 400 && refused.body.contains("all apps"), "\(refused.body)")
            }
        }
    }

    @Test("The conversion rate is by Apple's decided trials of all time")
    func conversion() async throws {
        try await withDesk { desk in
            let token = try await desk.member(.viewer).token
            #expect(try await read(desk, token).conversionRate == nil)
            func trial(_ number: Int, days: Int64) -> LedgerEntry {
                Desk.entry(Desk.purchase(number), "basic", for: Desk.token(number), number: number, price: 0) {
                    ($0.offerType, $0.offerDiscountType) = (.introductory, .freeTrial)
                    $0.purchaseDate = $0.purchaseDate?.adding(days: -days)
                    $0.expiresDate = $0.purchaseDate?.adding(days: 7)
                }
            }
            // One is followed by a payment a week later, one by nothing for 73 days, and one by nothing yet.
            try await desk.buy([
                trial(3, days: 0),
                Desk.entry(Desk.purchase(3), "basic", for: Desk.token(3), number: 13, price: 9_990) {
                    $0.transactionId = "\(Desk.purchase(3).originalTransactionID).1"
                    $0.purchaseDate = $0.purchaseDate?.adding(days: 7)
                    $0.signedDate = $0.signedDate.adding(days: 7)
                },
                trial(4, days: 65), trial(5, days: 0),
            ])
            // One that the app granted, and that a payment followed, is none of Apple's.
            try await desk.observer.query(
                """
                insert into storehook.trials (account_hash, token, tier, started_at, ends_at)
                values (sha256('a hash'), \(Desk.token(3).description)::text::uuid, 'pro', now() - interval '30 days',
                        now() - interval '23 days')
                """)
            try await desk.sum()
            let shown = try await read(desk, token)
            #expect(shown.conversionRate == 50_000 && shown.trialsUpToDate)
            #expect(try await read(desk, token, "?environment=Sandbox").conversionRate == nil)
        }
    }

    @Test("Every role reads them, and staff of some apps where all apps of the catalog are theirs; else it is 403")
    func members() async throws {
        try await withDesk { desk in
            try await count(desk)
            for role in StaffRole.allCases {
                #expect(try await read(desk, try await desk.member(role).token).totalUsers == 2, "\(role)")
            }
            let all = try await desk.member(.viewer, of: [Desk.app, Desk.other]).token
            #expect(try await read(desk, all).totalUsers == 2)
            let some = try await desk.member(.admin, of: [Desk.app]).token
            let refused = try await desk.get(Self.path, some)
            #expect(refused.status == 403 && refused.code == "forbidden", "\(refused.body)")
            #expect(try await desk.get(Self.path).status == 401)
            #expect(try await desk.get(Self.path + "?environment=production", all).status == 400)
        }
    }
}

/// What a client reads of these statistics.
private struct ReadStatistics: Decodable {
    struct Tier: Decodable {
        var tier: String
        var users: Int64
        var onTrial: Int64
        var share: Int64?

        var line: String { "\(tier) \(users) \(onTrial) \(share.map { "\($0)" } ?? "-")" }
    }
    struct Status: Decodable {
        var status: String
        var users: Int64
    }
    var environment: String
    var countedAt: String?
    var totalUsers: Int64
    var freeUsers: Int64
    var trialUsers: Int64
    var expiredUsers: Int64
    var activeSubscribers: Int64
    var conversionRate: Int64?
    var trialsUpToDate: Bool
    var anonymous: Int64
    var tiers: [Tier]
    var statuses: [Status]
}
