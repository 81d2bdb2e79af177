import AppStorePayloads
import AppleRecords
import Base
import EvidenceStore
import Foundation
import Postgres
import Simulation
import StandInSupport
import Subscriptions
import TestSupport
import Testing

/// What was due and was not heard of, by hand: each clause of the definition by a life of its own, whose posts take the way of all posts.
struct DueTests {
    private static let hour: Milliseconds = 3_600_000
    private static let month = days(30)
    /// When it is counted.
    private static let now = Bench.now

    private static func hours(_ count: Int64) -> Milliseconds { count * hour }
    private static func days(_ count: Int64) -> Milliseconds { count * 24 * hour }
    /// A second less.
    private static func almost(_ span: Milliseconds) -> Milliseconds { span - 1000 }

    /// A customer's life until ``now``.
    private struct Life: Sendable {
        var name: String
        var app = Bench.app.in(.production)
        /// What is not heard of, as a kind and an age; nil where nothing is missing.
        var expected: String?
        /// Whether something was due from a day to an hour ago, heard of or not.
        var isDueToday: Bool
        var acts: @Sendable (inout SimulatedSubscriber) -> SubscriptionLine.Reference

        init(
            _ name: String, _ expected: String? = nil, due isDueToday: Bool, in app: SimulatedApp? = nil,
            _ acts: @escaping @Sendable (inout SimulatedSubscriber) -> SubscriptionLine.Reference
        ) {
            (self.name, self.expected, self.isDueToday, self.acts) = (name, expected, isDueToday, acts)
            if let app { self.app = app }
        }

        /// A month that ended so long ago, and what came to it before.
        static func month(
            ended ago: Milliseconds, _ name: String, _ expected: String? = nil, due: Bool, in app: SimulatedApp? = nil,
            _ more: @escaping @Sendable (inout SimulatedSubscriber, SubscriptionLine.Reference, Milliseconds) -> Void =
                { _, _, _ in }
        ) -> Life {
            Life(name, expected, due: due, in: app) { customer in
                let end = DueTests.now - ago
                let line = customer.buy(.basicMonthly, at: end - DueTests.month)
                more(&customer, line, end)
                return line
            }
        }
    }

    private static let lives: [Life] = [
        // Ages, counted from the end. An hour is the least, and what is sixty days old is counted no more.
        .month(ended: almost(hours(1)), "ended within an hour", due: false),
        .month(ended: hours(1), "ended an hour ago", "renewal 1h", due: true),
        .month(ended: almost(hours(6)), "ended nearly six hours ago", "renewal 1h", due: true),
        .month(ended: hours(6), "ended six hours ago", "renewal 6h", due: true),
        .month(ended: days(1), "ended a day ago", "renewal 24h", due: false),
        .month(ended: days(3), "ended three days ago", "renewal 3d", due: false),
        .month(ended: days(7), "ended a week ago", "renewal older", due: false),
        .month(ended: almost(days(60)), "ended nearly sixty days ago", "renewal older", due: false),
        .month(ended: days(60), "ended sixty days ago", due: false),
        // Auto-renew at the end.
        .month(ended: hours(2), "switched off", due: false) { customer, line, end in
            customer.switchAutoRenew(line, on: false, at: end - days(10))
        },
        .month(ended: hours(2), "switched off and on again", "renewal 1h", due: true) { customer, line, end in
            customer.switchAutoRenew(line, on: false, at: end - days(20))
            customer.switchAutoRenew(line, on: true, at: end - days(15))
        },
        .month(ended: hours(2), "switched off at last", due: false) { customer, line, end in
            customer.switchAutoRenew(line, on: false, at: end - hours(1))
        },
        // What Apple signs within 24 hours before the end, or after it, is heard of.
        .month(ended: hours(2), "heard of 25 hours before", "renewal 1h", due: true) { customer, line, end in
            customer.raisePrice(line, toDollarMilliunits: 5990, needsConsent: false, at: end - hours(25))
        },
        .month(ended: hours(2), "heard of 23 hours before", due: true) { customer, line, end in
            customer.raisePrice(line, toDollarMilliunits: 5990, needsConsent: false, at: end - hours(23))
        },
        .month(ended: hours(2), "renewed ahead", due: true) { customer, line, _ in customer.renew(line) },
        .month(ended: hours(20), "failed and recovered", due: true) { customer, line, end in
            customer.failToRenew(line, grace: .dated)
            customer.recover(line, at: end + hours(10))
        },
        .month(ended: hours(2), "failed", due: true) { customer, line, _ in customer.failToRenew(line) },
        // A period that did not come to its end.
        .month(ended: hours(2), "refunded", due: false) { customer, line, end in
            customer.refund(customer.latest(of: line), at: end - days(5))
        },
        .month(ended: hours(2), "upgraded", due: false) { customer, line, end in
            customer.upgrade(line, to: .premiumYearly, at: end - days(5))
        },
        .month(ended: hours(2), "extended", due: false) { customer, line, end in
            customer.extend(line, by: days(5), at: end - days(5))
        },
        // Trials, grace and retries.
        Life("trial", "trial 1h", due: true) { customer in
            customer.buy(.premiumYearly, offer: .freeWeek, at: now - hours(170))
        },
        .month(ended: hours(386), "grace", "grace_period 1h", due: true) { customer, line, _ in
            customer.failToRenew(line, grace: .dated)
        },
        .month(ended: hours(386), "grace that is heard of", due: true) { customer, line, _ in
            customer.failToRenew(line, grace: .dated)
            customer.graceExpires(line)
        },
        .month(ended: hours(386), "grace without a date", "grace_period 1h", due: true) { customer, line, _ in
            customer.failToRenew(line, grace: .undated)
        },
        .month(ended: hours(382), "grace that goes on", due: false) { customer, line, _ in
            customer.failToRenew(line, grace: .dated)
        },
        .month(ended: hours(1442), "retries", "billing_retry 1h", due: true) { customer, line, _ in
            customer.failToRenew(line)
        },
        .month(ended: hours(1442), "retries that are heard of", due: true) { customer, line, _ in
            customer.failToRenew(line)
            customer.expire(line, .billing)
        },
        // Production alone.
        .month(ended: hours(2), "Sandbox", due: false, in: Bench.app.in(.sandbox)),
    ]

    private func ends(_ bench: Bench) -> DueEnds { DueEnds(bench.pool) }

    /// Counts without a rest before it; what is not heard of then, each by its subscription.
    private func counted(_ bench: Bench, imported: Bool = false) async throws -> [String: [String]] {
        try await bench.pool.query("update storehook.due_count_state set due_at = '-infinity'")
        #expect(try await ends(bench).count(at: Timestamp(millisecondsSince1970: Self.now)))
        var (filter, found, cursor) = (DueFilter(), [UnheardEnd](), ListCursor?.none)
        filter.isImported = imported
        repeat {
            let page = try await ends(bench).list(filter, after: cursor, limit: 3)
            found += page.elements
            cursor = page.next
        } while cursor != nil
        #expect(found.map(\.endsAt) == found.map(\.endsAt).sorted(by: >))
        // The numbers are those of the list.
        for line in try await ends(bench).counts().lines {
            let number = Int64(found.count { $0.age == line.age })
            #expect((imported ? line.imported : line.unheard) == number, "\(line)")
        }
        return Dictionary(
            found.map { ($0.originalTransactionID, ["\($0.kind.rawValue) \($0.age.rawValue)"]) }, uniquingKeysWith: +)
    }

    /// Stores a life's posts; its subscription.
    private func live(_ life: Life, lane: Int, _ bench: Bench) async throws -> String {
        var customer = SimulatedSubscriber(app: life.app, lane: lane, seed: UInt64(lane))
        let line = life.acts(&customer)
        try await bench.store(customer.takeNotifications().map { $0.signed(by: bench.authority) })
        return customer[line].originalTransactionId
    }

    @Test("Each clause of the definition, by lives whose posts were applied; what is heard of late is missing no more")
    func clauses() async throws {
        try await withBench { bench in
            var ids: [String] = []
            for (place, life) in Self.lives.enumerated() {
                ids.append(try await live(life, lane: place + 1, bench))
            }
            try await bench.workOff()
            let found = try await counted(bench)
            for (life, id) in zip(Self.lives, ids) {
                let (missing, expected) = (found[id] ?? [], life.expected.map { [$0] } ?? [])
                #expect(missing == expected, "\(life.name)")
            }
            #expect(found.count == Self.lives.count { $0.expected != nil })
            #expect(try await counted(bench, imported: true) == [:])
            let due = try await ends(bench).counts().due
            #expect(due == Int64(Self.lives.count { $0.isDueToday }))

            // The posts of one come after all.
            let place = try #require(Self.lives.firstIndex { $0.name == "ended an hour ago" })
            var customer = SimulatedSubscriber(
                app: Self.lives[place].app, lane: place + 1, seed: UInt64(place + 1))
            let line = Self.lives[place].acts(&customer)
            customer.renew(line)
            try await bench.store(customer.takeNotifications().map { $0.signed(by: bench.authority) })
            try await bench.workOff()
            let rest = try await counted(bench)
            #expect(rest[ids[place]] == nil && rest.count == found.count - 1)
            #expect(try await ends(bench).counts().due == due)
        }
    }

    @Test("What Apple was asked about since is not missing, by a refresh that it answered or by verifyReceipt")
    func asked() async throws {
        try await withBench { bench in
            let names = ["never", "before", "since", "planned", "verifyReceipt"]
            var ids: [String: String] = [:]
            for (place, name) in names.enumerated() {
                ids[name] = try await live(
                    .month(ended: 2 * Self.hour, name, due: true), lane: place + 1, bench)
            }
            try await bench.workOff()
            #expect(try await counted(bench).count == names.count)
            let app = Bench.app.bundleId
            for (name, ago) in [("before", 27 * Self.hour), ("since", 25 * Self.hour), ("planned", nil)]
                as [(String, Milliseconds?)]
            {
                let at = ago.map { PostgresTimestamp(millisecondsSince1970: Self.now - $0) }
                try await bench.pool.query(
                    """
                    insert into storehook.refreshes (environment, bundle_id, original_transaction_id, asked_at, outcome)
                    values ('Production', \(app), \(ids[name] ?? ""), \(at)::timestamptz,
                            case when \(at)::timestamptz is not null then 'refreshed' end)
                    """)
            }
            let id = try #require(ids["verifyReceipt"])
            let end = Self.now - 2 * Self.hour
            let said =
                #"{"bundle_id":"\#(app)","environment":"Production","request_date_ms":\#(Self.now - Self.hour),"#
                + #""purchase":{"#
                + #""transaction_id":"\#(id)","original_transaction_id":"\#(id)","product_id":"basic","#
                + #""purchase_date_ms":"\#(end - Self.month)","expires_date_ms":"\#(end)"}}"#
            try await bench.outbox.store([Evidence(.receiptTransaction, from: .api, Array(said.utf8))])
            try await bench.workOff()
            let found = try await counted(bench)
            #expect(Set(found.keys) == Set(["never", "before", "planned"].compactMap { ids[$0] }))
        }
    }

    @Test("Subscriptions that operators stored and that nobody else spoke of are apart, and in no other number")
    func imported() async throws {
        try await withBench { bench in
            var ids: [EvidenceSource: String] = [:]
            for (place, source) in EvidenceSource.allCases.enumerated() {
                var customer = SimulatedSubscriber(
                    app: Bench.app.in(.production), lane: place + 1, seed: UInt64(place + 1))
                let line = customer.buy(.basicMonthly, at: Self.now - Self.month - 7 * Self.hour)
                ids[source] = customer[line].originalTransactionId
                for told in customer.takeNotifications() {
                    try await bench.outbox.store(bench.records(told, from: source))
                }
            }
            try await bench.workOffAll()
            let found = try await counted(bench)
            #expect(Set(found.keys) == Set(ids.filter { $0.key != .operator }.values))
            let byHand = try #require(ids[.operator])
            #expect(try await counted(bench, imported: true) == [byHand: ["renewal 6h"]])
            #expect(try await ends(bench).counts().due == Int64(EvidenceSource.allCases.count - 1))
            // Staff of another app see none of it.
            let others = try await ends(bench).counts(of: ["com.example.other"])
            #expect(others.due == 0 && others.lines.allSatisfy { $0.unheard == 0 && $0.imported == 0 })
            #expect(try await ends(bench).counts(of: [Bench.app.bundleId]) == ends(bench).counts())
        }
    }

    @Test("Nothing is known before the first count; then more than a twentieth, and at least 20, of what was due alarm")
    func alarm() async throws {
        try await withBench { bench in
            let ends = ends(bench)
            let early = try await ends.counts()
            #expect(early.due == nil && early.lines.allSatisfy { $0.unheard == nil && $0.countedAt == nil })
            #expect(!early.isAlarming)
            #expect(try await ends.samples().isEmpty)
            #expect(try await ends.count())
            #expect(try await ends.samples().map(\.value) == [0, 0, 0, 0, 0, 0])
            for (unheard, due, isAlarming) in [
                (19, 20, false), (20, 400, false), (20, 399, true), (21, 420, false), (21, 419, true), (400, 400, true),
            ] as [(Int64, Int64, Bool)] {
                try await bench.pool.query("delete from storehook.due_counts")
                try await bench.pool.query("delete from storehook.due_days")
                // Those of other ages do not alarm.
                try await bench.pool.query(
                    """
                    insert into storehook.due_counts (bundle_id, age, unheard, imported)
                    values ('a', '6h', \(unheard - 1), 0), ('b', '6h', 1, 5), ('a', '1h', 900, 7), ('a', 'older', 9000, 0)
                    """)
                try await bench.pool.query(
                    "insert into storehook.due_days (bundle_id, due) values ('a', \(due)), ('b', 12)")
                let counts = try await ends.counts()
                #expect(counts.due == due && counts.unheardAtSixHours == unheard, "\(counts)")
                #expect(counts.isAlarming == isAlarming, "\(unheard) of \(due)")
                let samples = try await ends.samples().map { "\($0.name) \($0.labels.map { $0.value }) \($0.value)" }
                #expect(samples.contains(#"storehook_due_unheard ["6h"] \#(Double(unheard))"#), "\(samples)")
                #expect(samples.contains("storehook_due_lines [] \(Double(due))"), "\(samples)")
            }
        }
    }

    @Test("Each part rests after its count, nine times as long as it took at least; of workers at once one counts")
    func rests() async throws {
        try await withBench { bench in
            let ends = ends(bench)
            let held = try await HeldTransaction(
                in: bench.database, "select part from storehook.due_count_state where part = 'recent' for update")
            #expect(try await ends.count(), "the other parts")
            #expect(try await ends.counts().lines.first?.countedAt == nil)
            try await held.release()
            #expect(try await ends.count())
            #expect(try await !ends.count(), "all rest")
            let rests = try await bench.texts(
                """
                select part || ' ' || (due_at >= counted_at + case part when 'recent' then interval '5 minutes'
                                                                       when 'due' then interval '30 minutes'
                                                                       else interval '1 hour' end)::text
                  from storehook.due_count_state order by part
                """)
            #expect(rests == ["due true", "older true", "recent true"])
            try await bench.install(
                """
                update storehook.due_count_state set due_at = '-infinity';
                create function storehook.slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.3); return null; end';
                create trigger slow before delete on storehook.due_counts for each statement execute function storehook.slow();
                """)
            #expect(try await ends.count(restingAtLeast: .zero))
            #expect(
                try await bench.value(
                    "select due_at >= counted_at + interval '3 seconds' from storehook.due_count_state where part = 'older'"
                ))
        }
    }
}
