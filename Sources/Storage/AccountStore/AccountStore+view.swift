package import Accounts
import AppStorePayloads
package import Base
import Foundation
package import Postgres
import PurchaseStore
import Subscriptions

extension AccountStore {
    /// An account and an environment to read it in.
    package struct ViewKey: Sendable, Hashable {
        /// The account's token.
        package var account: UniqueIdentifier
        /// The environment.
        package var environment: String
        /// Whether to find out if the account's id is kept (``AccountView/isNamed``).
        package var asksForName: Bool

        /// A key.
        package init(_ account: UniqueIdentifier, in environment: String, askingForName: Bool = false) {
            self.account = account
            self.environment = environment
            asksForName = askingForName
        }
    }

    /// The accounts' views in their environments now, in the order of the keys: one indexed statement, whatever the
    /// number of accounts in the database. Reading one costs mostly the statement itself, so that many together cost
    /// little more.
    /// - Parameter now: the present; nil for the database's clock.
    package func views(_ keys: [ViewKey], at now: Timestamp? = nil) async throws -> [AccountView] {
        let rows = try await pool.query(.views(of: keys, at: now))
        let version = try rows.first?.decode("catalog", as: Int64?.self)
        let catalog: Catalog?
        if let read = version.flatMap({ self.known($0) }) {
            catalog = read
        } else if let version {
            catalog = try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "accounts")) {
                try self.catalog(version, $0)
            }
        } else {
            catalog = nil
        }
        return try AccountView.all(keys, of: rows, catalog)
    }

    /// An account's view in an environment now.
    /// - Parameter account: its token.
    package func view(_ account: UniqueIdentifier, in environment: String) async throws -> AccountView {
        let views = try await views([ViewKey(account, in: environment)])
        guard let view = views.first else { throw AccountView.missing }
        return view
    }

    /// Likewise, in a transaction that has changed it.
    package func view(
        _ account: UniqueIdentifier, in environment: String, _ session: borrowing PostgresSession
    ) throws -> AccountView {
        let keys = [ViewKey(account, in: environment)]
        let rows = try session.query(.views(of: keys, at: nil))
        let version = try rows.first?.decode("catalog", as: Int64?.self)
        let views = try AccountView.all(keys, of: rows, try version.map { try catalog($0, session) })
        guard let view = views.first else { throw AccountView.missing }
        return view
    }
}

extension PostgresQuery {
    /// For each account a row for each purchase that it may own, or one row without a purchase; each has the
    /// account's status.
    fileprivate static func views(of keys: [AccountStore.ViewKey], at now: Timestamp?) -> PostgresQuery {
        PostgresQuery(
            "accounts.views", unescaped: viewsText, binding: keys.map { UUID($0.account) }, keys.map(\.environment),
            now.map { PostgresTimestamp($0) }, keys.map(\.asksForName)
        ).keepingPlan()
    }

    private static let viewsText = """
        select w.place, date_trunc('milliseconds', coalesce($3, statement_timestamp())) as now, c.current_version as catalog,
               status.version, \(phases),
               t.tier as trial_tier, t.product as trial_product, t.started_at as trial_starts, t.ends_at as trial_ends,
               l.bundle_id, l.original_transaction_id, s.phase_renewal_product[p.n] as renewal_product,
               coalesce(s.phase_transaction[p.n], o.transaction_id) as transaction_id,
               tr.purchased_at as bought_at, tr.price, tr.currency, tr.ownership,
               case when said.original ~ '^[0-9]{1,15}$' then said.original::bigint end as originally,
               coalesce(s.first_stored_at, o.first_stored_at) as first_stored_at,
               coalesce(s.last_stored_at, o.last_stored_at) as last_stored_at, \(purchaseColumns),
               case when w.asks_for_name then
                    exists (select from storehook.account_names n where n.token = w.token)
                    or exists (select from storehook.accounts a where a.token = w.token and (a.account is not null or a.erased_at is not null))
               end as is_named
               -- Behind selects the planner does not see how many there are: it would plan each time for as many as there were.
          from unnest((select $1), (select $2), (select $4)) with ordinality w (token, environment, asks_for_name, place)
         cross join storehook.catalog_state c
          left join storehook.account_status status
               on status.token = w.token and status.environment = w.environment and status.catalog = c.current_version
          left join storehook.trials t on t.token = w.token and w.environment = 'Production'
          left join storehook.account_lines l on l.token = w.token and l.environment = w.environment
        \(purchase)
        \(bindings)
          left join lateral (
               select nullif(width_bucket(date_trunc('milliseconds', coalesce($3, statement_timestamp())),
                                          s.phase_starts), 0) as n
              ) p on true
          left join storehook.transactions tr
               on tr.transaction_id = coalesce(s.phase_transaction[p.n], o.transaction_id) collate "C"
              and tr.bundle_id = l.bundle_id and tr.environment = l.environment
               -- Read out of it once.
          left join lateral (select tr.payload->>'originalPurchaseDate' as original offset 0) said on true
        """

    /// Read by their places, behind the first four columns; the names are those of a purchase's phases, too.
    private static let phases = StoredAccount.columns.map { "status.\($0) as account_\($0)" }
        .joined(separator: ", ")
}

extension AccountView {
    fileprivate static var missing: PostgresError {
        PostgresError(.decoding, "storehook.catalog_state has no row", operation: "accounts.views")
    }

    /// The accounts in the order of their keys.
    fileprivate static func all(
        _ keys: [AccountStore.ViewKey], of rows: PostgresRows, _ catalog: Catalog?
    ) throws -> [AccountView] {
        var places: [[PostgresRow]] = Array(repeating: [], count: keys.count)
        for row in rows {
            // From 1, as SQL counts.
            let place = Int(try row.decode("place", as: Int64.self)) - 1
            guard places.indices.contains(place) else { throw missing }
            places[place].append(row)
        }
        return try zip(keys, places).map { key, rows in
            try AccountView(rows, of: key.account, in: key.environment, catalog)
        }
    }

    private init(
        _ rows: [PostgresRow], of account: UniqueIdentifier, in environment: String, _ catalog: Catalog?
    ) throws {
        guard let row = rows.first else { throw Self.missing }
        let now = Timestamp(try row.decode("now", as: PostgresTimestamp.self))
        let free = AccountPhase(
            startsAt: .distantPast, status: .free, tier: catalog?.free.id ?? "free", source: .none)
        guard let state = try AccountState(row, in: environment, from: 4) ?? AccountState([free]) else {
            throw PostgresError(.decoding, "account_status: a row without phases", operation: "accounts.views")
        }
        var trial: StartedTrial?
        if let tier = try row.decode("trial_tier", as: String?.self) {
            trial = StartedTrial(
                tier: tier, product: try row.decode("trial_product"),
                startedAt: Timestamp(try row.decode("trial_starts", as: PostgresTimestamp.self)),
                endsAt: Timestamp(try row.decode("trial_ends", as: PostgresTimestamp.self)))
        }
        self.init(
            token: account, environment: environment, instant: now, catalog: catalog,
            catalogVersion: try row.decode("catalog"), version: try row.decode("version", as: Int64?.self) ?? 0,
            state: state,
            purchases: try rows.compactMap {
                try SubscriptionView($0, of: account, in: environment, at: now, catalog, by: state)
            }, trial: trial)
        isNamed = try row.decode("is_named")
        sortPurchases()
    }
}

extension SubscriptionView {
    /// Nil where the row has no purchase, where it has not begun, and where it is another account's now.
    fileprivate init?(
        _ row: PostgresRow, of account: UniqueIdentifier, in environment: String, at now: Timestamp,
        _ catalog: Catalog?, by state: AccountState
    ) throws {
        guard let bundleID = try row.decode("bundle_id", as: String?.self) else { return nil }
        let key = PurchaseKey(
            environment: environment, bundleID: bundleID,
            originalTransactionID: try row.decode("original_transaction_id"))
        let content: AccountLine.Content
        var kind: OneTimePurchase.Kind?
        var stretchEnds: [StretchEnd] = []
        if try row.decode("earlier_phases", as: Int32?.self) != nil {
            content = .subscription(try LinePhase.all(of: row))
            stretchEnds = try StretchEnd.all(stored: row.decode("stretches", as: String?.self))
        } else if let bought = try AccountLine.BoughtOnce(row) {
            content = .oneTime(bought)
            kind = bought.kind
        } else {
            return nil
        }
        let line = AccountLine(
            key: key, content: content, ownership: try PurchaseOwnership(bindings: row), stretchEnds: stretchEnds)
        guard let catalog else { return nil }
        let phases = line.phases(by: catalog).prefix { $0.startsAt <= now }
        guard let phase = phases.last else { return nil }
        self.init(line, phase, by: catalog, at: now)
        guard owner == account else { return nil }
        let trial = phases.lastTrial
        oneTime = kind
        if let counts = state.counts(key, at: now) {
            givesAccess = counts
        } else {
            // A row that an earlier release wrote does not say what counts.
            let current = state.value(at: now)
            let isBlocked = current.status == .revoked && current.purchase == key
            givesAccess = !isBlocked && line.gives(to: account, at: now, by: catalog)
        }
        cancelledAt = Self.cancelledAt(phases)
        createdAt = try row.decode("first_stored_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        let storedAt = try row.decode("last_stored_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        updatedAt = max(phase.startsAt, storedAt ?? phase.startsAt)
        trialStartedAt = trial?.startsAt
        trialEndsAt = trial?.endsAt
        transactionID = try row.decode("transaction_id")
        purchasedAt = try row.decode("bought_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        originallyPurchasedAt = try row.decode("originally", as: Int64?.self)
            .map(Timestamp.init(millisecondsSince1970:))
        if let first = phases.first, first.startsAt == trialStartedAt,
            try row.decode("earlier_phases", as: Int32?.self) ?? 0 > 0
        {
            // The phases that it began with are not at hand.
            let bought = first.boughtAt ?? (phase.inTrial ? purchasedAt : originallyPurchasedAt)
            trialStartedAt = bought.map { min($0, first.startsAt) } ?? first.startsAt
        }
        price = Money(try row.decode("price"), in: try row.decode("currency"))
        self.ownership = try row.decode("ownership")
        renewalProductID = try row.decode("renewal_product")
    }

    /// Since when a purchase is cancelled or taken back, by its phases up to now; of one that has ended, since when it was cancelled before
    /// that. Nil for all others.
    private static func cancelledAt(_ phases: ArraySlice<LinePhase>) -> Timestamp? {
        let ended = phases.reversed().prefix { $0.status == .expired }.count
        let before = phases.dropLast(ended)
        guard let last = before.last?.status, last == .cancelled || last == .revoked && ended == 0 else { return nil }
        return before.reversed().prefix { $0.status == last }.last?.startsAt
    }

    /// A purchase at an instant.
    /// - Parameter phase: what it is then; nil before it began.
    init(_ line: AccountLine, _ phase: LinePhase?, by catalog: Catalog, at instant: Timestamp) {
        self.init(line.key)
        productID = phase?.productID
        status = phase?.status
        accessUntil = phase?.accessUntil
        willRenew = phase?.willRenew
        inTrial = phase?.inTrial ?? false
        periodEndsAt = phase?.periodEndsAt
        hasEndedAsTrial = phase?.status == .expired && line.hasEndedAsTrial(at: instant, by: catalog)
        owner = phase == nil ? nil : line.owner(at: instant)
        bindings = line.ownership.bindings
    }
}
