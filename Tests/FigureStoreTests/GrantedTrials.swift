import AppStorePayloads
import Base
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport

/// Trials that the app grants the accounts of random lives, around what they first bought.
struct GrantedTrials: Sendable {
    private struct Trial: Sendable {
        var account: UniqueIdentifier
        var app: String?
        var start: Timestamp
        var days: Int64
    }

    private let trials: [Trial]

    /// One for each account that Apple signed into anything. Some name an app, and some say that it is none.
    init(_ entries: [LedgerEntry], _ generator: inout SeededGenerator) {
        var firsts: [UniqueIdentifier: Timestamp] = [:]
        for entry in entries {
            guard let payload = entry.transaction?.payload, let account = payload.appAccountToken,
                let start = payload.purchaseDate
            else { continue }
            firsts[account] = min(firsts[account] ?? start, start)
        }
        let apps: [String?] = [nil, nil, Shop.app, "com.example.other", ""]
        var trials: [Trial] = []
        for (account, first) in firsts.sorted(by: { $0.key < $1.key }) {
            trials.append(
                Trial(
                    account: account, app: apps[Int.random(in: apps.indices, using: &generator)],
                    start: first.adding(seconds: .random(in: -100 * 86_400...20 * 86_400, using: &generator)),
                    days: .random(in: 3...30, using: &generator)))
        }
        self.trials = trials
    }

    /// Grants every second one, from the first or from the second on.
    func grant(from place: Int, _ site: OrderDatabase) async throws {
        let some = trials.enumerated().filter { $0.offset % 2 == place }.map(\.element)
        try await site.pool.query(
            """
            insert into storehook.trials (account_hash, token, tier, bundle_id, started_at, ends_at)
            select sha256(convert_to(t.token, 'UTF8')), t.token::uuid, 'pro', t.bundle_id, t.started_at,
                   t.started_at + t.days * interval '24 hours'
              from unnest(\(some.map(\.account.description)), \(some.map(\.app)), \(some.map { PostgresTimestamp($0.start) }),
                          \(some.map(\.days))) as t (token, bundle_id, started_at, days)
            """)
    }

    /// The account of a life, by its place: two of them share one, and some have none.
    static func account(of place: Int) -> UniqueIdentifier? {
        place % 7 == 6 ? nil : UniqueIdentifier(high: 0x5000_4000, low: 0x8000_0000_0000_0000 | UInt64(place / 2))
    }
}

extension OrderLife {
    /// The same, signed for an account.
    func signed(for account: UniqueIdentifier?) -> OrderLife {
        var life = self
        life.entries = entries.map { $0.signed(for: account) }
        life.late = late?.signed(for: account)
        return life
    }
}

extension LedgerEntry {
    fileprivate func signed(for account: UniqueIdentifier?) -> LedgerEntry {
        guard let environment, let bundleID, let notification, var transaction else { return self }
        transaction.payload.appAccountToken = account
        return LedgerEntry(
            outboxID: outboxID, receivedAt: receivedAt, environment: environment, bundleID: bundleID,
            notification: notification, transaction: transaction, renewal: renewal)
    }
}
