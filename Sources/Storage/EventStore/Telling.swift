package import Accounts
package import AppStorePayloads
package import Events
import Foundation
package import Ledger
package import Postgres
package import Subscriptions

/// An account, for who tells what became of it: what it is now, and which of the purchases at hand are its own.
package struct AccountNews: Sendable {
    /// Its token.
    package var token: UniqueIdentifier
    /// Apple's name of the environment.
    package var environment: String
    /// What it is, under the current catalog.
    package var state: AccountState

    /// Memberwise.
    package init(token: UniqueIdentifier, environment: String, state: AccountState) {
        self.token = token
        self.environment = environment
        self.state = state
    }
}

extension EventStore {
    /// Tells what a transaction has made of purchases and accounts, in that transaction. The purchases must be held, and so must the
    /// accounts: those told of, and the owners of the purchases, now and when they were told last.
    ///
    /// Three statements at the most, whatever their number, and one where there is nothing to tell.
    /// - Parameters:
    ///   - owners: whose each purchase is; none of those that are nobody's.
    ///   - cause: why, where no evidence says so; the clock.
    /// - Returns: how many events were written.
    /// - Throws: `PostgresError`; the transaction must then be rolled back.
    @discardableResult
    package func tell(
        _ purchases: [PurchaseNews], _ accounts: [AccountNews] = [], owners: [PurchaseKey: UniqueIdentifier] = [:],
        cause: EventCause = .clock, at now: PostgresTimestamp, _ session: borrowing PostgresSession
    ) throws -> Int {
        var telling = Telling(rules: rules, now: Timestamp(now), cause: cause)
        if !purchases.isEmpty {
            for (place, row) in try session.query(.told(purchases.map(\.key))).enumerated() {
                let key = purchases[place].key
                telling.take(purchases[place], before: try ToldPurchase(row, key), owner: owners[key])
            }
        }
        let ids = telling.accounts.union(accounts.map { .init(token: $0.token, environment: $0.environment) }).sorted()
        if !ids.isEmpty {
            let states = Dictionary(
                accounts.map { (ToldAccess.ID(token: $0.token, environment: $0.environment), $0.state) },
                uniquingKeysWith: { first, _ in first })
            for (place, row) in try session.query(.told(ids)).enumerated() {
                telling.take(try ToldAccess(row, ids[place]), states[ids[place]])
            }
        }
        let written = telling.numbered()
        guard !written.purchases.isEmpty || !written.accounts.isEmpty || !written.events.isEmpty else { return 0 }
        try session.query(.tell(written))
        return written.events.count
    }
}

/// What is told in one transaction, gathered.
struct Telling {
    let rules: TellingRules
    let now: Timestamp
    let cause: EventCause
    private var purchases: [ToldPurchase] = []
    private var changedPurchases: Set<PurchaseKey> = []
    private var access: [ToldAccess.ID: ToldAccess] = [:]
    private var changedAccess: Set<ToldAccess.ID> = []
    private var drafts: [EventDraft] = []
    private var evidence: [ToldAccess.ID: [Evidence]] = [:]
    /// The accounts of which a purchase is told.
    private(set) var accounts: Set<ToldAccess.ID> = []

    init(rules: TellingRules, now: Timestamp, cause: EventCause) {
        self.rules = rules
        self.now = now
        self.cause = cause
    }

    mutating func take(_ news: PurchaseNews, before stored: ToldPurchase, owner: UniqueIdentifier?) {
        var row = stored
        let evidence = news.entries.map { Evidence($0) }
        // Apple's clocks and the database's differ by moments: what was heard has come to be.
        let latest = evidence.map(\.asOf).max() ?? .distantPast
        let ahead = latest.milliseconds(since: now)
        let now = ahead > 0 && ahead < Self.clockDifference ? latest : now
        if let owner { accounts.insert(.init(token: owner, environment: news.key.environment)) }
        if let former = stored.line?.account {
            accounts.insert(.init(token: former, environment: news.key.environment))
        }
        if !news.phases.isEmpty {
            let line = LineNow(
                key: news.key, phases: news.phases, periods: news.periods, periodsBefore: news.periodsBefore,
                account: owner)
            let telling = LineTelling(
                stored.line, line, evidence: evidence, at: now, isFill: news.wasKnown, rules: rules)
            drafts += telling.events
            row.line = telling.told
            // What begins only later has not been told of.
            row.dueAt =
                telling.told.map { $0.nextDue(news.phases, rules: rules) }
                ?? news.phases.first { $0.startsAt > now }?.startsAt
        } else if let value = news.oneTime {
            drafts += PurchaseTelling.events(
                news.oneTimeBefore, value, of: news.key, account: owner,
                evidence: evidence.max { $0.asOf < $1.asOf } ?? Evidence(cause, asOf: now), at: now, rules: rules)
        }
        if let owner {
            self.evidence[.init(token: owner, environment: news.key.environment), default: []] += evidence
        }
        if row != stored { changedPurchases.insert(news.key) }
        purchases.append(row)
    }

    /// By how much Apple's clocks may be ahead of the database's.
    private static let clockDifference: Int64 = 60_000

    mutating func take(_ stored: ToldAccess, _ state: AccountState?) {
        var row = stored
        if let state {
            // Before there were events an account may have been told to nobody, and readers have seen it change.
            let telling = AccountTelling(
                stored.told, state, of: stored.id.token, in: stored.id.environment,
                evidence: evidence[stored.id] ?? (cause == .clock ? [] : [Evidence(cause, asOf: now)]), at: now,
                isFill: stored.told == nil && stored.version > 1, rules: rules)
            drafts += telling.events
            row.told = telling.told
            row.dueAt = telling.told.nextDue(state)
            if row.told != stored.told || row.dueAt != stored.dueAt { changedAccess.insert(stored.id) }
        }
        access[stored.id] = row
    }

    /// What is to be written.
    struct Written {
        var purchases: [ToldPurchase]
        var accounts: [ToldAccess]
        var events: [Event]
    }

    /// Gives each event its number in its order.
    func numbered() -> Written {
        var access = access
        var changedAccess = changedAccess
        var changedPurchases = changedPurchases
        var sequences = Dictionary(
            purchases.map { ($0.key, $0.sequence) }, uniquingKeysWith: { first, _ in first })
        var events: [Event] = []
        for draft in drafts {
            let id = draft.account.map { ToldAccess.ID(token: $0, environment: draft.environment) }
            if let id, access[id] != nil {
                access[id]?.sequence += 1
                changedAccess.insert(id)
                let row = access[id]
                events.append(Event(draft, account: nil, version: row?.version ?? 0, sequence: row?.sequence ?? 1))
            } else if let key = draft.purchase {
                sequences[key, default: 0] += 1
                changedPurchases.insert(key)
                events.append(Event(draft, account: nil, version: nil, sequence: sequences[key] ?? 1))
            }
        }
        return Written(
            purchases: purchases.filter { changedPurchases.contains($0.key) }.map { row in
                var row = row
                row.sequence = sequences[row.key] ?? row.sequence
                return row
            },
            accounts: changedAccess.sorted().compactMap { access[$0] }, events: events)
    }
}

extension Evidence {
    /// What an entry says, and why it is known.
    init(_ entry: LedgerEntry) {
        let dates = [
            entry.notification?.signedDate, entry.transaction?.payload.signedDate, entry.renewal?.payload.signedDate,
        ]
        let cause: EventCause =
            switch (entry.notification, entry.source) {
            case (_, .history): .reconcile
            case (let notification?, _):
                .notification(
                    type: notification.notificationType.rawValue, subtype: notification.subtype?.rawValue,
                    uuid: notification.uuid)
            case (nil, .api): .refresh
            case (nil, .client), (nil, .webhook): .client
            case (nil, .operator): .reconcile
            }
        self.init(
            cause, asOf: dates.compactMap(\.self).min() ?? .distantPast,
            transactionID: entry.transaction?.payload.transactionId)
    }
}

extension PostgresQuery {
    /// Writes events, what was told with them, and that they have no position so far: all of it or nothing, in one statement.
    static func tell(_ written: Telling.Written) -> PostgresQuery {
        let events = written.events
        let drafts = events.map(\.draft)
        return PostgresQuery(
            "events.tell",
            """
            with \(embedding: .telling(written.purchases, written.accounts)), event as (
                insert into storehook.events (
                    kind, environment, bundle_id, token, original_transaction_id, sequence, version, at, is_late,
                    is_correction, content)
                select * from unnest(
                    \(drafts.map(\.kind.rawValue)), \(drafts.map(\.environment)), \(drafts.map(\.bundleID)),
                    \(events.map { $0.version == nil ? nil : $0.draft.account.map { UUID($0) } }),
                    \(drafts.map { $0.purchase?.originalTransactionID }), \(events.map(\.sequence)),
                    \(events.map(\.version)), \(drafts.map { PostgresTimestamp($0.instant) }),
                    \(drafts.map(\.isLate)), \(drafts.map(\.isCorrection)), \(drafts.map(\.content)))
                returning id, told_at
            )
            insert into storehook.events_unplaced (id, told_at) select id, told_at from event
            """)
    }
}
