import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import Schema
import TestSupport

/// Usage in a database of the test's own.
struct UsageBench: Sendable {
    static let shanghai = TimeZone(identifier: "Asia/Shanghai") ?? .gmt
    static let newYork = TimeZone(identifier: "America/New_York") ?? .gmt

    let database: TestDatabase
    let pool: PostgresPool
    let usage: Usage
    let token = UniqueIdentifier(high: 1, low: 2)
    let other = UniqueIdentifier(high: 1, low: 3)

    /// Counts for the account in Shanghai, unless it is told otherwise.
    func count(
        _ act: UsageReport.Act, of feature: CountedFeature, key: String? = nil, usedAt: Timestamp? = nil,
        for token: UniqueIdentifier? = nil, in zone: TimeZone = shanghai
    ) async throws -> UsageOutcome {
        try await usage.count(
            UsageReport(act, key: key, usedAt: usedAt), of: feature, for: token ?? self.token, in: zone)
    }

    /// How much the account has used now of a feature.
    func used(_ feature: CountedFeature, in zone: TimeZone = shanghai) async throws -> Int64 {
        try await usage.current([feature], of: token, in: zone)[0].used
    }

    /// The database's clock, in whole milliseconds.
    func now() async throws -> Timestamp {
        let now = try await value("select now()", as: PostgresTimestamp.self)
        return Timestamp(millisecondsSince1970: now.millisecondsSince1970)
    }

    /// The only value of a statement's only row.
    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// Reports 1 under a key, while a transaction that counts 2 is under way: it ends once the report waits for it.
    /// - Returns: the outcome in words.
    func countLate(of feature: CountedFeature) async throws -> String {
        let held = try await HeldTransaction(
            in: database, "update storehook.usage_counters set used = used + 2 where feature = \(feature.id)")
        async let outcome = count(.add(1), of: feature, key: "late")
        try await eventually("it waits for the row") {
            try await value(
                """
                select count(*) > 0 from pg_stat_activity
                 where datname = current_database() and wait_event = 'transactionid'
                """, as: Bool.self)
        }
        try await held.release()
        return try await outcome.words
    }

    /// How many rows there are of counters and of keys.
    func rows() async throws -> [Int64] {
        [
            try await value("select count(*) from storehook.usage_counters"),
            try await value("select count(*) from storehook.usage_keys"),
        ]
    }
}

/// Runs `body` with usage in a database of its own.
func withUsage<T>(
    connections: Int = 8, clock: @escaping @Sendable () -> Timestamp = Usage.machineClock,
    isolation: isolated (any Actor)? = #isolation, _ body: (UsageBench) async throws -> T
) async throws -> T {
    try await withMigratedDatabase(Schema.migrations) { database in
        let pool = PostgresPool(configuration: database.configuration, size: connections, logger: quiet)
        do {
            let value = try await body(
                UsageBench(database: database, pool: pool, usage: Usage(pool, clock: clock)))
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}

extension UsageOutcome {
    /// What it is, with the numbers: `counted 3 of 5`.
    var words: String {
        func words(_ count: UsageCount) -> String { "\(count.used) of \(count.limit.map(String.init) ?? "-")" }
        return switch self {
        case .counted(let count): "counted \(words(count))"
        case .repeated(let count): "repeated \(words(count))"
        case .limitReached(let count): "refused \(words(count))"
        case .full(let count): "full at \(words(count))"
        case .exhausted, .keyReused, .tooOld, .inTheFuture, .noStock: "\(self)"
        }
    }

    /// The count that it names.
    var count: UsageCount? {
        switch self {
        case .counted(let count), .repeated(let count), .limitReached(let count), .full(let count): count
        case .exhausted, .keyReused, .tooOld, .inTheFuture, .noStock: nil
        }
    }
}
