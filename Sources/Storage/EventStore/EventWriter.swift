package import AccountStore
import Accounts
import AppStorePayloads
import Base
package import Events
import Foundation
package import Postgres
package import PurchaseStore
import Subscriptions

extension EventStore {
    /// Writes the events of a transaction's changes to purchases and accounts, in that transaction. These must
    /// be locked: the purchases, the reported accounts, and the owners of the purchases, now and when they
    /// were last reported.
    ///
    /// Four statements at the most, whatever their number, mostly three, and one where there is nothing to report.
    /// - Parameters:
    ///   - settled: the accounts' new states, and the owners of the purchases.
    ///   - cause: the cause where no evidence gives one; the clock.
    ///   - instant: up to when changes are reported; by default up to now. Later ones are the clock's: a worker that
    ///     is behind
    ///     must not report an end whose renewal is only not applied yet.
    /// - Returns: what was written, by kind.
    /// - Throws: `PostgresError`; the transaction must then be rolled back.
    @discardableResult
    package func record(
        _ purchases: [PurchaseDelta], _ settled: AccountStore.Settled, cause: EventCause = .clock,
        upTo instant: PostgresTimestamp? = nil, _ session: borrowing PostgresSession
    ) throws -> EventCounts {
        let states = Dictionary(settled.states.map { ($0.id, $0.state) }, uniquingKeysWith: { first, _ in first })
        var writer = EventWriter(
            rules: rules, settled, cause: cause, upTo: instant, fills: try fills(purchases, session))
        if !purchases.isEmpty {
            for (place, row) in try session.query(.reported(purchases.indices.map { purchases[$0].key })).enumerated() {
                let key = purchases[place].key
                let owner = settled.owners[key]
                writer.take(
                    purchases[place], before: try ReportedPurchase(row, key), owner: owner,
                    by: owner.flatMap { states[.init(token: $0, environment: key.environment)] },
                    formerOwner: settled.formerOwners[key])
            }
        }
        let ids = writer.accounts.union(settled.states.map(\.id)).sorted()
        if !ids.isEmpty {
            for (place, row) in try session.query(.reported(ids)).enumerated() {
                writer.take(try ReportedAccess(row, ids[place]), states[ids[place]])
            }
        }
        try complete(&writer, session)
        return try write(writer.numbered(), session)
    }

    /// Writes the gathered events and states.
    func write(_ written: EventWriter.Written, _ session: borrowing PostgresSession) throws -> EventCounts {
        guard !written.purchases.isEmpty || !written.accounts.isEmpty || !written.events.isEmpty else {
            return EventCounts()
        }
        try session.query(.record(written))
        return written.events.counts
    }

    /// The first fills of the history of these purchases' apps, over or not.
    private func fills(
        _ purchases: [PurchaseDelta], _ session: borrowing PostgresSession
    ) throws -> [EventWriter.Scope: EventWriter.Fill] {
        let scopes = Set(
            purchases.indices.lazy.filter { purchases[$0].evidence.areHistory }.map {
                EventWriter.Scope(purchases[$0].key)
            }
        )
        guard !scopes.isEmpty else { return [:] }
        return try Dictionary(
            session.query(
                PostgresQuery(
                    "events.fills",
                    """
                    select bundle_id, environment, storehook.owed_at(bundle_id, environment) as owed_at, filled_at
                      from unnest(\(scopes.map(\.bundleID)), \(scopes.map(\.environment))) as s (bundle_id, environment)
                     cross join lateral storehook.history_filled_at(bundle_id, environment) as filled_at
                     where filled_at is not null
                    """)
            ).map {
                (
                    EventWriter.Scope(bundleID: try $0.decode(0), environment: try $0.decode(1)),
                    EventWriter.Fill(
                        owedAt: Timestamp(try $0.decode(2, as: PostgresTimestamp.self)), filledAt: try $0.decode(3))
                )
            }, uniquingKeysWith: { first, _ in first })
    }
}

extension AccountStore.State {
    fileprivate var id: ReportedAccess.ID { .init(token: token, environment: environment) }
}

extension [EvidenceSummary] {
    /// Whether Apple's list of the past is all that speaks of a purchase.
    fileprivate var areHistory: Bool { !isEmpty && allSatisfy { $0.source == .history } }
}

/// Gathers the events of one transaction.
struct EventWriter {
    /// An app in an environment.
    struct Scope: Sendable, Hashable {
        var bundleID: String
        var environment: String

        init(bundleID: String, environment: String) {
            self.bundleID = bundleID
            self.environment = environment
        }

        init(_ key: PurchaseKey) { self.init(bundleID: key.bundleID, environment: key.environment) }
    }

    /// The first fill of an app's history.
    struct Fill: Sendable {
        /// The `due_at` of what is owed until it is over.
        var owedAt: Timestamp
        /// By when all that it brings is received; the end of time while it is under way.
        var filledAt: PostgresTimestamp

        /// Whether it brought all of this evidence, however late that is applied.
        func isAll(of evidence: [EvidenceSummary]) -> Bool {
            evidence.areHistory && evidence.allSatisfy { $0.receivedAt <= filledAt }
        }
    }

    let rules: EventRules
    /// Up to when changes are reported.
    let now: Timestamp
    let cause: EventCause
    /// The id of what is done, where all events of the transaction come of one act.
    private let act: UniqueIdentifier?
    /// The catalog of the accounts' states.
    let catalog: Int64?
    /// The first fills of history that evidence may be of.
    let fills: [Scope: Fill]
    private var purchases: [Purchase] = []
    private var access: [ReportedAccess.ID: ReportedAccess] = [:]
    private var changedAccess: Set<ReportedAccess.ID> = []
    /// Events about accounts; they follow those about purchases.
    private var accessDrafts: [EventDraft] = []
    private var evidence: [ReportedAccess.ID: [Evidence]] = [:]
    /// Accounts with news of a first fill, and when what is owed to them is due.
    private var filled: [ReportedAccess.ID: Timestamp] = [:]
    /// The accounts of reported purchases.
    private(set) var accounts: Set<ReportedAccess.ID> = []

    /// A reported purchase.
    private struct Purchase {
        var row: ReportedPurchase
        /// Whether the row has to be written.
        var hasChanged = false
        /// Its events.
        var drafts: [EventDraft] = []
        /// The transaction that its latest phase is about.
        var latestID: String?
    }

    init(
        rules: EventRules, _ settled: AccountStore.Settled, cause: EventCause = .clock,
        upTo instant: PostgresTimestamp? = nil, fills: [Scope: Fill] = [:]
    ) {
        let clock = Timestamp(settled.clock)
        now = instant.map { min(Timestamp($0), clock) } ?? clock
        var rules = rules
        rules.lagMilliseconds = clock.milliseconds(since: now)
        if let days = settled.warningDays { rules.warningDays.insert(Int64(days)) }
        self.rules = rules
        self.cause = cause
        act = cause.isAct ? UniqueIdentifier(UUID()) : nil
        catalog = settled.catalog
        self.fills = fills
    }

    mutating func take(
        _ news: PurchaseDelta, before stored: ReportedPurchase, owner: UniqueIdentifier?, by state: AccountState?,
        formerOwner: UniqueIdentifier?
    ) {
        var row = stored
        var drafts: [EventDraft] = []
        let evidence = evidence(of: news)
        // Apple's clocks and the database's differ by moments: what evidence states has taken effect.
        let latest = evidence.reduce(Timestamp.distantPast) { max($0, $1.asOf) }
        let ahead = latest.milliseconds(since: now)
        let now = ahead > 0 && ahead < Self.clockDifference ? latest : now
        let fill = fills[Scope(news.key)].flatMap { $0.isAll(of: news.evidence) ? $0 : nil }
        let isFilling = fill != nil
        // The report of a one-time purchase does not name the account.
        let former = stored.line?.account ?? formerOwner
        if let owner { take(evidence, of: news, owner, fill) }
        if let former, former != owner { take(evidence, of: news, former, fill) }
        if !news.phases.isEmpty, let fill, stored.line == nil {
            // A new purchase is reported later, in its state once all of its past is known. It is owed until then.
            row.dueAt = fill.owedAt
        } else if !news.phases.isEmpty {
            // A first report is about the deciding period, which may be an older one.
            let periods = stored.line == nil && news.wasKnown ? news.allPeriods : news.periods
            let line = SubscriptionNow(
                key: news.key, phases: news.phases, periods: periods,
                periodsBefore: isFilling ? news.periods : news.periodsBefore, account: owner,
                access: state?.value(at: now))
            let events = SubscriptionEvents(
                stored.line, line, evidence: evidence, at: now, isFill: news.wasKnown, rules: rules)
            drafts = events.events
            row.line = events.reported
            // A subscription that only begins later has no report yet.
            row.dueAt =
                events.reported.map { $0.nextDue(news.phases, rules: rules, access: line.access, at: now) }
                ?? news.phases.first { $0.startsAt > now }?.startsAt
        } else if news.phases.isEmpty, let value = news.oneTime {
            drafts = OneTimePurchaseEvents.events(
                news.oneTimeBefore, value, of: news.key, account: owner, from: formerOwner,
                evidence: evidence.isEmpty ? [Evidence(cause, asOf: now, id: act)] : evidence, at: now,
                isFill: isFilling, rules: rules)
        }
        for word in news.evidence where word.type == .consumptionRequest && !isFilling {
            drafts.append(request(word, of: news.key, owner, at: now))
        }
        var known = stored.terms.known
        for (id, terms) in news.terms { known[id] = terms }
        let latestID = news.phases.last?.value.transactionID
        // They are kept behind the state, where there is one.
        row.terms =
            row.line.map { ReportedTerms(known, of: $0.value.transactionID, latest: latestID) } ?? ReportedTerms()
        for place in drafts.indices { drafts[place].terms = known }
        purchases.append(Purchase(row: row, hasChanged: row != stored, drafts: drafts, latestID: latestID))
    }

    /// The transactions whose terms are not known here and that events name, each once a purchase.
    var missingTerms: [NamedTransaction] {
        var missing: [NamedTransaction] = []
        var named: Set<NamedTransaction> = []
        for place in purchases.indices {
            for draft in purchases[place].drafts.indices {
                let (ids, known) = (purchases[place].drafts[draft].transactionIDs, purchases[place].drafts[draft].terms)
                for id in ids where known[id] == nil {
                    let transaction = NamedTransaction(place: place, key: purchases[place].row.key, id: id)
                    if named.insert(transaction).inserted { missing.append(transaction) }
                }
            }
        }
        return missing
    }

    /// Adds what such a transaction was sold for.
    mutating func add(_ terms: SaleTerms, of transaction: NamedTransaction) {
        let place = transaction.place
        for draft in purchases[place].drafts.indices { purchases[place].drafts[draft].terms[transaction.id] = terms }
        guard let line = purchases[place].row.line else { return }
        var known = purchases[place].row.terms.known
        known[transaction.id] = terms
        let kept = ReportedTerms(known, of: line.value.transactionID, latest: purchases[place].latestID)
        guard kept != purchases[place].row.terms else { return }
        purchases[place].row.terms = kept
        purchases[place].hasChanged = true
    }

    /// Adds the account of a reported purchase.
    private mutating func take(
        _ evidence: [Evidence], of news: PurchaseDelta, _ account: UniqueIdentifier, _ fill: Fill?
    ) {
        let id = ReportedAccess.ID(token: account, environment: news.key.environment)
        accounts.insert(id)
        if let fill { filled[id] = fill.owedAt } else { self.evidence[id, default: []] += evidence }
    }

    /// Adds an event about a purchase that changes nothing.
    mutating func note(_ draft: EventDraft, of stored: ReportedPurchase) {
        if let account = draft.account { accounts.insert(.init(token: account, environment: draft.environment)) }
        purchases.append(Purchase(row: stored, drafts: [draft]))
    }

    private func request(
        _ word: EvidenceSummary, of key: PurchaseKey, _ owner: UniqueIdentifier?, at now: Timestamp
    ) -> EventDraft {
        .consumptionRequested(
            key, of: owner, transactionID: word.transactionID, reason: word.refundReason, cause: Evidence(word).cause,
            at: min(word.notifiedAt ?? now, now), now: now, rules: rules)
    }

    /// What brought the news; who acts without any evidence is it himself.
    private func evidence(of news: PurchaseDelta) -> [Evidence] {
        guard news.evidence.isEmpty, cause != .clock else { return news.evidence.map { Evidence($0, act: act) } }
        return [Evidence(cause, asOf: now, id: act)]
    }

    /// By how much Apple's clocks may be ahead of the database's.
    private static let clockDifference: Int64 = 60_000

    mutating func take(_ stored: ReportedAccess, _ state: AccountState?) {
        var row = stored
        defer { access[stored.id] = row }
        guard let state else { return }
        var evidence = evidence[stored.id] ?? []
        let owedAt = evidence.isEmpty ? filled[stored.id] : nil
        if let owedAt, stored.reported == nil {
            // Reported later, in its state once all of its past is known, and owed until then.
            row.dueAt = owedAt
            if row.dueAt != stored.dueAt { changedAccess.insert(stored.id) }
            return
        }
        if evidence.isEmpty, cause != .clock { evidence = [Evidence(cause, asOf: now, id: act)] }
        let events = AccountEvents(
            stored.reported, state, of: stored.id.token, in: stored.id.environment, evidence: evidence,
            due: stored.dueAt, isOtherCatalog: stored.reported != nil && stored.catalog != catalog, at: now,
            // An account that was never reported may be owed, or older than events, and readers have seen it change.
            isFill: owedAt != nil || (stored.reported == nil && (stored.version > 1 || isCatchingUp(stored))),
            rules: rules)
        accessDrafts += events.events
        row.reported = events.reported
        row.dueAt = events.reported.nextDue(state)
        row.catalog = catalog
        if row.reported != stored.reported || row.dueAt != stored.dueAt || row.catalog != stored.catalog {
            changedAccess.insert(stored.id)
        }
    }

    /// Whether an account that was never reported is reported now without any news of it.
    private func isCatchingUp(_ stored: ReportedAccess) -> Bool {
        cause == .reconcile || cause == .rebuild || stored.dueAt.map { $0 >= EventStore.owed } ?? false
    }

    /// The rows to write.
    struct Written {
        var purchases: [ReportedPurchase] = []
        var accounts: [ReportedAccess] = []
        var events = EventRows()
    }

    /// Assigns each event its number in its order.
    consuming func numbered() -> Written {
        var written = Written()
        for place in purchases.indices {
            let drafts = purchases[place].drafts
            for draft in drafts.indices {
                if addToAccount(drafts, draft, &written.events) { continue }
                purchases[place].row.sequence += 1
                purchases[place].hasChanged = true
                written.events.add(drafts, draft, version: nil, sequence: purchases[place].row.sequence)
            }
            if purchases[place].hasChanged { written.purchases.append(purchases[place].row) }
        }
        for draft in accessDrafts.indices { _ = addToAccount(accessDrafts, draft, &written.events) }
        written.accounts = changedAccess.sorted().compactMap { access[$0] }
        return written
    }

    /// - Returns: whether it is in an account's order.
    private mutating func addToAccount(_ drafts: [EventDraft], _ place: Int, _ events: inout EventRows) -> Bool {
        guard let account = drafts[place].account else { return false }
        let id = ReportedAccess.ID(token: account, environment: drafts[place].environment)
        guard let row = access[id] else { return false }
        access[id]?.sequence += 1
        changedAccess.insert(id)
        events.add(drafts, place, version: row.version, sequence: row.sequence + 1)
        return true
    }
}

extension Evidence {
    /// What was said, and why it is known.
    /// - Parameter act: the id of what is done, where records come of one act.
    init(_ word: EvidenceSummary, act: UniqueIdentifier? = nil) {
        var cause = EventCause.client
        switch (word.source, word.type, word.uuid) {
        case (.history, _, _): cause = .reconcile
        case (_, let type?, let uuid?):
            cause = .notification(type: type.rawValue, subtype: word.subtype?.rawValue, uuid: uuid)
        case (.api, _, _): cause = .refresh
        case (.client, _, _), (.webhook, _, _): break
        case (.operator, _, _): cause = .reconcile
        }
        self.init(
            cause, asOf: word.asOf, transactionID: word.transactionID, refundedAt: word.refundedAt,
            id: word.uuid ?? act ?? word.id)
    }
}
