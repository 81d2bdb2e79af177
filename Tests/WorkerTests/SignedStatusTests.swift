import AppStorePayloads
import EvidenceStore
import Operations
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import Subscriptions
import TestSupport
import Testing

@Suite("What Apple signed, as it is stored")
struct SignedStatusTests {
    private static let day: Milliseconds = 86_400_000

    /// A notification about another time of the same purchase.
    private func later(
        _ notification: UnsignedNotification, _ milliseconds: Milliseconds, _ change: (inout DataRecord) -> Void
    ) -> UnsignedNotification {
        var later = notification
        later.uuid = "00000000-0000-4000-8000-" + String(repeating: "0", count: 11) + "\(milliseconds % 10)"
        later.signedDate += milliseconds
        guard var data = later.data else { return later }
        data.transaction?.signedDate += milliseconds
        data.renewal?.signedDate += milliseconds
        change(&data)
        later.part = .data(data)
        return later
    }

    private func statuses(_ bench: Bench, at instant: Milliseconds = Bench.now) async throws -> [String] {
        let at = PostgresTimestamp(millisecondsSince1970: instant)
        return try await bench.texts("select status from storehook.status_at(\(at)) order by original_transaction_id")
    }

    @Test(
        "takes no access from a customer by a status that nobody knows, also in a type that is parked",
        arguments: [6, 0, 7, -1])
    func unknownStatus(_ status: Int) async throws {
        try await withBench { bench in
            let bought = bench.purchase()
            var known = later(bought, 60_001) { $0.status = status }
            known.type = "PRICE_INCREASE"
            var unknown = later(bought, 120_002) { $0.status = status }
            unknown.type = "SOMETHING_NEW"
            unknown.subtype = nil
            try await bench.store([bought, known, unknown].map { $0.signed(by: bench.authority) })
            try await bench.workOff()
            #expect(try await bench.outbox.conservation().parked == 1)
            #expect(try await statuses(bench) == ["active"])
            #expect(try await bench.value("select count(*) from storehook.anomalies", as: Int64.self) == 0)
            // What Apple wrote is kept.
            #expect(
                try await bench.texts(
                    "select distinct reported_status::text from storehook.purchase_facts where reported_status <> 1")
                    == ["\(status)"])
        }
    }

    @Test("gives what was paid although a part of it has no date of its own, and is rebuilt alike", arguments: [0, 1])
    func undatedPart(_ place: Int) async throws {
        try await withBench { bench in
            let bought = bench.purchase()
            var parts = 0
            let json = bought.json { part in
                defer { parts += 1 }
                guard parts == place else { return bench.authority.sign(part) }
                let text = String(decoding: part, as: UTF8.self)
                return bench.authority.sign(Array(text.replacing(/,"signedDate":\d+/, with: "").utf8))
            }
            try await bench.store([bench.authority.sign(json)])
            try await bench.workOff()
            #expect(try await bench.letters().isEmpty)
            #expect(try await statuses(bench) == ["active"])
            #expect(
                try await bench.value(
                    """
                    select f.transaction_signed_at = f.signed_at or f.renewal_signed_at = f.signed_at
                      from storehook.purchase_facts f
                    """, as: Bool.self))
            #expect(try await differences(bench).isEmpty)
            // Also when nothing is left of the bytes but the record itself.
            try await bench.install(agedOutbox)
            _ = try await bench.outbox.maintain(Retention(days: 7))
            #expect(try await differences(bench).isEmpty)
        }
    }

    @Test("stands against Apple's answer a minute later, which only repeats, and yields to what is new in one")
    func answered() async throws {
        try await withBench { bench in
            let bought = bench.purchase()
            var reported = later(bought, 60_001) { $0.status = 5 }
            (reported.type, reported.subtype) = ("PRICE_INCREASE", nil)
            try await bench.store([bought, reported].map { $0.signed(by: bench.authority) })
            try await bench.workOff()
            #expect(try await statuses(bench) == ["revoked"])
            func answer(_ milliseconds: Milliseconds, renews: Bool) throws -> [Evidence] {
                let answer = later(bought, milliseconds) { $0.renewal?.autoRenewStatus = renews ? 1 : 0 }
                let data = try #require(answer.data)
                let parts: [(EvidenceKind, [UInt8]?)] = [
                    (.transaction, data.transaction?.json), (.renewal, data.renewal?.json),
                ]
                return parts.compactMap { kind, json in
                    json.map { Evidence(kind, from: .api, Array(bench.authority.sign($0).utf8)) }
                }
            }
            try await bench.outbox.store(answer(120_002, renews: true))
            try await bench.workOff()
            #expect(try await bench.value("select count(*) from storehook.records", as: Int64.self) == 2)
            #expect(try await statuses(bench) == ["revoked"])
            try await bench.outbox.store(answer(180_003, renews: false))
            try await bench.workOff()
            #expect(try await statuses(bench) == ["cancelled"])
            #expect(try await differences(bench).isEmpty)
        }
    }

    @Test("keeps whether Apple says that it does not try to charge, or leaves that out, also beside earlier programs")
    func flag() async throws {
        try await withBench { bench in
            let ended = Bench.now - Self.day
            let flags: [Bool?] = [nil, false, true]
            let told = flags.enumerated().map { lane, flag in
                var notification = bench.purchase(lane: lane + 1)
                notification.signedDate = ended + 5_000
                guard var data = notification.data else { return notification }
                data.status = flag == false ? 2 : 4
                data.transaction?.purchaseDate = ended - 30 * Self.day
                data.transaction?.expiresDate = ended
                data.transaction?.signedDate = ended + 5_000
                data.renewal?.signedDate = ended + 5_000
                data.renewal?.renewalDate = ended
                data.renewal?.isInBillingRetryPeriod = flag
                data.renewal?.gracePeriodExpiresDate = .date(ended + 16 * Self.day)
                notification.part = .data(data)
                return notification
            }
            try await bench.store(told.map { $0.signed(by: bench.authority) })
            try await bench.workOff()
            let stored: PostgresQuery = """
                select concat_ws(' ', in_billing_retry::text, is_not_retried::text) from storehook.purchase_facts
                 order by original_transaction_id
                """
            #expect(try await bench.texts(stored) == ["false", "false true", "true"])
            #expect(try await statuses(bench) == ["grace_period", "expired", "grace_period"])
            #expect(try await differences(bench).isEmpty)
            // A row as an earlier program writes it counts as left out until a rebuild reads the evidence.
            try await bench.pool.query("update storehook.purchase_facts set is_not_retried = null")
            #expect(try await differences(bench) == ["purchase_facts is_not_retried"])
            #expect(try await differences(bench, repair: true) == ["purchase_facts is_not_retried"])
            #expect(try await bench.texts(stored) == ["false", "false true", "true"])
        }
    }

    private func differences(_ bench: Bench, repair: Bool = false) async throws -> [String] {
        try await bench.rebuild(repair: repair).differences.map { "\($0.table) \($0.column)" }
    }
}
