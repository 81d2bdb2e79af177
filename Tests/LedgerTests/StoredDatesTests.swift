import AppStorePayloads
import Base
import Postgres
import PurchaseStore
import Simulation
import Subscriptions
import TestSupport
import Testing

@Suite("When the evidence of a purchase was stored")
struct StoredDatesTests {
    /// Evidence that was stored so many seconds after another.
    private func entry(_ arrival: Arrival, stored seconds: Int64) -> LedgerEntry {
        let entry = arrival.entry()
        return LedgerEntry(entry, outboxID: entry.outboxID, receivedAt: Self.stored(seconds))
    }

    private static func stored(_ seconds: Int64) -> PostgresTimestamp {
        PostgresTimestamp(microsecondsSince1970: 1_767_225_600_000_123 + seconds * 1_000_000)
    }

    private func dates(_ table: String, _ database: LedgerDatabase) async throws -> [PostgresTimestamp?] {
        let row = try await database.connection.query(
            "select first_stored_at, last_stored_at from storehook.\(unescaped: table)"
        ).one()
        return [try row.decode(0), try row.decode(1)]
    }

    private func told(_ periods: Int) throws -> [Arrival] {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let line = customer.buy(.basicMonthly, at: 1_749_990_400_000)
        for _ in 1..<periods { customer.renew(line) }
        return try customer.takeNotifications().map { try Arrival($0, in: .example) }
    }

    @Test("is in its row, the first and the last, in whatever order it is applied", arguments: [1, 3, 20])
    func subscription(_ periods: Int) async throws {
        let told = try told(periods)
        try await LedgerDatabase.with { database in
            // The middle first, then the end, then what was stored before.
            let order = told.indices.sorted { ($0 % 3, $0) > ($1 % 3, $1) }
            for place in order { try await database.apply([entry(told[place], stored: Int64(place) * 10)]) }
            let last = Int64(told.count - 1) * 10
            #expect(try await dates("subscriptions", database) == [Self.stored(0), Self.stored(last)])
            // What is recorded already says nothing new.
            #expect(try await database.apply([entry(told[0], stored: 9_999)]) == [.duplicate])
            #expect(try await dates("subscriptions", database) == [Self.stored(0), Self.stored(last)])
        }
    }

    @Test("counts evidence that made no row yet")
    func renewalAlone() async throws {
        let told = try told(2)
        let renewal = try #require(told[0].records(run: 0).last)
        try await LedgerDatabase.with { database in
            try await database.apply([
                LedgerEntry(renewal, outboxID: renewal.outboxID, receivedAt: Self.stored(5))
            ])
            let rows = try await database.connection.query("select 1 from storehook.subscriptions").map { _ in 1 }
            #expect(rows.isEmpty)
            let next = told[1].entry(run: 0)
            try await database.apply([LedgerEntry(next, outboxID: next.outboxID, receivedAt: Self.stored(70))])
            #expect(try await dates("subscriptions", database) == [Self.stored(5), Self.stored(70)])
        }
    }

    @Test("is in the row of what is bought once, too")
    func oneTime() async throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let unlock = customer.charge(.lifetime, at: 1_749_990_400_000)
        customer.refund(unlock, at: 1_750_000_000_000)
        let told = try customer.takeNotifications().map { try Arrival($0, in: .example) }
        try #require(told.count == 2)
        try await LedgerDatabase.with { database in
            try await database.apply([entry(told[0], stored: 1)])
            #expect(try await dates("one_time_purchases", database) == [Self.stored(1), Self.stored(1)])
            try await database.apply([entry(told[1], stored: 2)])
            #expect(try await dates("one_time_purchases", database) == [Self.stored(1), Self.stored(2)])
        }
    }

    @Test(
        "beside it, why Apple refunded is filled by a rebuild in rows of an earlier release, and missing there is no difference"
    )
    func refundReason() async throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let unlock = customer.charge(.lifetime, at: 1_749_990_400_000)
        customer.refund(unlock, reason: 1, at: 1_750_000_000_000)
        let heard = try customer.takeNotifications().map { try Arrival($0, in: .example) }
        try await LedgerDatabase.with { database in
            for (place, arrival) in heard.enumerated() {
                try await database.apply([entry(arrival, stored: Int64(place))])
            }
            func reasons() async throws -> [Int64] {
                var counts: [Int64] = []
                for table in ["purchase_facts", "one_time_purchases"] {
                    let query = PostgresQuery(
                        unescaped: "select count(*) from storehook.\(table) where revocation_reason = 1")
                    counts.append(try await database.connection.query(query).one().decode(0))
                }
                return counts
            }
            #expect(try await reasons() == [1, 1])
            for table in ["purchase_facts", "one_time_purchases"] {
                try await database.connection.query(
                    PostgresQuery(unescaped: "update storehook.\(table) set revocation_reason = null"))
            }
            #expect(try await rebuild(database, repair: false).isEmpty)
            #expect(try await reasons() == [0, 0])
            #expect(try await rebuild(database, repair: true).isEmpty)
            #expect(try await reasons() == [1, 1])
            try await database.connection.query("update storehook.one_time_purchases set revocation_reason = 0")
            #expect(try await rebuild(database, repair: false).map(\.column) == ["revocation_reason"])
        }
    }

    /// The differences that deriving the only purchase anew finds.
    private func rebuild(_ database: LedgerDatabase, repair: Bool) async throws -> [RowDifference] {
        try await database.connection.withTransaction { session in
            let keys = try Ledger().purchases(after: nil, limit: 9, session)
            return try Ledger().rederive(keys, repair: repair, session) { references, _ in
                references.map { _ in .gone }
            }.differences
        }
    }

    @Test(
        "is filled in the row of an earlier release by the next evidence and by a rebuild, and missing there is no difference"
    )
    func earlierRelease() async throws {
        let told = try told(3)
        try await LedgerDatabase.with { database in
            func forget() async throws {
                try await database.connection.query(
                    "update storehook.subscriptions set first_stored_at = null, last_stored_at = null")
            }
            for place in 0...1 { try await database.apply([entry(told[place], stored: Int64(place))]) }
            try await forget()
            try await database.apply([entry(told[2], stored: 2)])
            #expect(try await dates("subscriptions", database) == [Self.stored(0), Self.stored(2)])

            #expect(try await rebuild(database, repair: false).isEmpty)
            try await forget()
            #expect(try await rebuild(database, repair: false).isEmpty)
            #expect(try await dates("subscriptions", database) == [nil, nil])
            #expect(try await rebuild(database, repair: true).isEmpty)
            #expect(try await dates("subscriptions", database) == [Self.stored(0), Self.stored(2)])
            // Evidence that an earlier release has applied since is missing in them.
            try await database.connection.query(
                "update storehook.subscriptions set last_stored_at = first_stored_at + interval '1 second'")
            #expect(try await rebuild(database, repair: false).isEmpty)
            #expect(try await rebuild(database, repair: true).isEmpty)
            #expect(try await dates("subscriptions", database) == [Self.stored(0), Self.stored(2)])
            // What is wrong is a difference, and is mended.
            try await database.connection.query("update storehook.subscriptions set last_stored_at = now()")
            #expect(try await rebuild(database, repair: false).map(\.column) == ["last_stored_at"])
            #expect(try await rebuild(database, repair: true).count == 1)
            #expect(try await dates("subscriptions", database) == [Self.stored(0), Self.stored(2)])
        }
    }
}
