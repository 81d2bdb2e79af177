import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

/// What the database holds about one account in one environment, as far as its status depends on it.
struct LoadedAccount: Sendable {
    /// A purchase that may be the account's.
    struct Line: Sendable {
        var line: AccountLine
        /// How many of its phases are in `subscription_history` alone.
        var earlierPhases = 0
        /// Where the loaded phases begin.
        var knownFrom: Timestamp?
        /// Where those in `subscriptions` begin, if there are earlier ones.
        var keptFrom: Timestamp?
        /// Whether the earlier ones are loaded, too.
        var isWhole = false

        var hasMore: Bool { earlierPhases > 0 && !isWhole }
    }

    let token: UniqueIdentifier
    let environment: String
    var lines: [Line] = []
    var acts: [StaffAct] = []
    var trial: StartedTrial?
    /// Whether the account has any facts; otherwise there is nothing to write.
    var isKnown = false
    /// Facts before this do not count.
    var erasedAt: Timestamp?
    /// Where the phases of its row under the current catalog begin, `.distantPast` where they have no beginning; nil without a row.
    var storedFrom: Timestamp?
    /// From when on what it was is written anew; nil where only its row is.
    var writtenFrom: Timestamp?

    /// Its facts.
    var facts: AccountFacts {
        AccountFacts(account: token, lines: lines.map(\.line), acts: acts, trial: trial, erasedAt: erasedAt)
    }

    /// From when on its phases are kept: from the latest beginning of a purchase's phases in `subscriptions`, so that
    /// a row does not grow without bound. Which phases were loaded does not matter.
    var keptFrom: Timestamp {
        ([erasedAt] + lines.map(\.keptFrom)).compactMap(\.self).max() ?? .distantPast
    }

    /// From when on all is loaded that its status depends on.
    var loadedFrom: Timestamp {
        ([erasedAt] + lines.map { $0.hasMore ? $0.knownFrom : nil }).compactMap(\.self).max() ?? .distantPast
    }

    /// From when on its phases are derived.
    var derivedFrom: Timestamp { writtenFrom.map { min($0, keptFrom) } ?? keptFrom }

    /// What may have changed from an instant on is written anew, and with it what the stored row began with: the new one may begin
    /// later.
    mutating func write(from affected: Timestamp) {
        writtenFrom = max(min(storedFrom ?? .distantPast, affected), erasedAt ?? .distantPast)
    }

    /// Purchases whose earlier phases must be loaded: all if acts may refer to the past; otherwise those with no access at the first
    /// loaded phase.
    func wanting(_ catalogs: [Catalog]) -> [PurchaseKey] {
        lines.filter { line in
            guard line.hasMore, let start = line.knownFrom else { return false }
            return !acts.isEmpty || !catalogs.allSatisfy { line.line.gives(to: token, at: start, by: $0) }
        }.map(\.line.key)
    }
}

extension AccountStore {
    /// How far back accounts are read.
    enum Extent: Sendable {
        /// As far as their rows keep phases.
        case kept
        /// As far as they may have changed; with accounts that have not.
        case changed(but: Set<UniqueIdentifier>)
        /// All of it, for questions about instants long ago.
        case whole
    }

    /// Reads locked accounts: three statements, and one more where earlier phases are needed.
    /// - Parameters:
    ///   - catalogs: the catalogs to derive them under.
    ///   - derived: subscriptions that need not be read.
    ///   - lines: the query that names their purchases, where that is not `account_lines`.
    func load(
        _ accounts: [UniqueIdentifier], for catalogs: [Catalog],
        having derived: DerivedSubscriptions = DerivedSubscriptions(), extent: Extent = .kept,
        lines: PostgresQuery? = nil, _ session: borrowing PostgresSession
    ) throws -> [LoadedAccount] {
        let tokens = accounts.map { UUID($0) }
        var loaded = Loading()
        for row in try session.query(lines ?? .lines(of: tokens, but: derived.keys)) {
            try loaded.take(line: row, derived)
        }
        for row in try session.query(.about(tokens)) { try loaded.take(about: row) }
        var all = loaded.accounts
        var wanting: Set<PurchaseKey> = []
        for id in all.keys {
            guard var account = all[id] else { continue }
            var isWhole = false
            switch extent {
            case .kept: break
            case .whole:
                account.write(from: .distantPast)
                isWhole = true
            case .changed(let unchanged):
                account.write(
                    from: unchanged.contains(account.token)
                        ? .distantFuture : derived.affected(account.lines.map(\.line.key)))
                isWhole = account.loadedFrom > account.derivedFrom
            }
            all[id] = account
            wanting.formUnion(
                isWhole ? account.lines.filter(\.hasMore).map(\.line.key) : account.wanting(catalogs))
        }
        if !wanting.isEmpty {
            let earlier = try earlierPhases(of: wanting.sorted(), session)
            for id in all.keys { all[id]?.prepend(earlier) }
        }
        return all.values.sorted { ($0.token, $0.environment) < ($1.token, $1.environment) }
    }

    private func earlierPhases(
        of purchases: [PurchaseKey], _ session: borrowing PostgresSession
    ) throws -> [PurchaseKey: [LinePhase]] {
        var phases: [PurchaseKey: [LinePhase]] = [:]
        for row in try session.query(.earlierPhases(of: purchases)) {
            let key = try PurchaseKey(row)
            phases[key, default: []] += try LinePhase.all(of: row)
        }
        return phases
    }
}

extension LoadedAccount {
    fileprivate mutating func prepend(_ earlier: [PurchaseKey: [LinePhase]]) {
        for index in lines.indices {
            guard let phases = earlier[lines[index].line.key], case .subscription(let last) = lines[index].line.content
            else { continue }
            // Some of those that were just written there may be at hand.
            let rest = last.first.map { first in phases.prefix { $0.startsAt < first.startsAt } } ?? phases[...]
            lines[index].line.content = .subscription(rest + last)
            lines[index].isWhole = true
        }
    }
}

extension LinePhase {
    /// Reads the columns of `subscriptions` or of `subscription_history`.
    static func all(of row: PostgresRow) throws -> [LinePhase] {
        let starts = try row.decode("phase_starts", as: [PostgresTimestamp].self)
        let statuses = try row.decode("phase_status", as: [String].self)
        let products = try row.decode("phase_product", as: [String?].self)
        let ends = try row.decode("phase_expires", as: [PostgresTimestamp].self)
        let graces = try row.decode("phase_grace_ends", as: [PostgresTimestamp?].self)
        let trials = try row.decode("phase_trial", as: [Bool].self)
        let renews = try row.decode("phase_will_renew", as: [Bool?].self)
        let accounts = try row.decode("phase_account", as: [UUID?].self)
        let periodEnds = try row.decode("phase_period_ends", as: [PostgresTimestamp].self)
        let renewals = try row.decode("phase_renewal_product", as: [String?].self)
        var origins = try row.decode("phase_origin", as: [String?]?.self) ?? []
        // An older program has written the phases since.
        if origins.count != starts.count { origins = [] }
        return try starts.indices.map { place in
            guard let status = SubscriptionStatus(rawValue: statuses[place]) else {
                throw PostgresError(
                    .decoding, "phase_status: a status that this release does not know", operation: "decode")
            }
            return LinePhase(
                startsAt: Timestamp(starts[place]), status: status, productID: products[place],
                accessUntil: Timestamp(graces[place] ?? ends[place]), inTrial: trials[place],
                willRenew: renews[place] ?? false, account: UniqueIdentifier(accountToken: accounts[place]),
                periodEndsAt: Timestamp(periodEnds[place]), renewalProductID: renewals[place],
                origin: try origins.isEmpty
                    ? PhaseOrigin() : origins[place].map { try PhaseOrigin(stored: $0) } ?? PhaseOrigin())
        }
    }
}

/// Gathers rows by account.
private struct Loading {
    struct ID: Hashable {
        var token: UniqueIdentifier
        var environment: String
    }

    var accounts: [ID: LoadedAccount] = [:]

    private func account(_ row: PostgresRow) throws -> (id: ID, account: LoadedAccount) {
        let id = ID(
            token: UniqueIdentifier(try row.decode("token", as: UUID.self)), environment: try row.decode("environment"))
        var account = accounts[id] ?? LoadedAccount(token: id.token, environment: id.environment)
        account.isKnown = true
        return (id, account)
    }

    mutating func take(line row: PostgresRow, _ derived: DerivedSubscriptions) throws {
        var (id, account) = try account(row)
        let key = PurchaseKey(
            environment: account.environment, bundleID: try row.decode("bundle_id"),
            originalTransactionID: try row.decode("original_transaction_id"))
        let ownership = try PurchaseOwnership(bindings: row)
        var known = derived[key]
        if known == nil, let earlier = try row.decode("earlier_phases", as: Int32?.self) {
            let phases = try LinePhase.all(of: row)
            known = .init(
                phases: phases, stretchEnds: try StretchEnd.all(stored: row.decode("stretches", as: String?.self)),
                earlierPhases: Int(earlier), keptFrom: earlier > 0 ? phases.first?.startsAt : nil)
        }
        if let known, !known.phases.isEmpty {
            account.lines.append(
                LoadedAccount.Line(
                    line: AccountLine(
                        key: key, content: .subscription(known.phases), ownership: ownership,
                        stretchEnds: known.stretchEnds),
                    earlierPhases: known.earlierPhases, knownFrom: known.phases.first?.startsAt,
                    keptFrom: known.keptFrom))
        }
        if let bought = try AccountLine.BoughtOnce(row) {
            account.lines.append(
                LoadedAccount.Line(line: AccountLine(key: key, content: .oneTime(bought), ownership: ownership)))
        }
        accounts[id] = account
    }

    mutating func take(about row: PostgresRow) throws {
        var (id, account) = try account(row)
        let at = try row.decode("at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        switch (try row.decode("what", as: String.self), at) {
        case ("act", let at?):
            if let kind = try StaffAct.Kind(row) {
                account.acts.append(StaffAct(id: try row.decode("id"), at: at, kind: kind))
            }
        case ("trial", let at?):
            let endsAt = try row.decode("ends_at", as: PostgresTimestamp.self)
            account.trial = StartedTrial(
                tier: try row.decode("tier"), product: try row.decode("product"), startedAt: at,
                endsAt: Timestamp(endsAt))
        case ("erased", let at?): account.erasedAt = at
        case ("status", let at?): account.storedFrom = at == Timestamp(PostgresTimestamp.earliest) ? .distantPast : at
        default: break
        }
        accounts[id] = account
    }
}

extension AccountLine.BoughtOnce {
    /// Reads the columns of `one_time_purchases`; nil where the row has none.
    init?(_ row: PostgresRow) throws {
        guard let name = try row.decode("kind", as: String?.self) else { return nil }
        guard let kind = OneTimePurchase.Kind(rawValue: name) else {
            throw PostgresError(.decoding, "kind: a value that this release does not know", operation: "decode")
        }
        let purchasedAt = try row.decode("purchased_at", as: PostgresTimestamp.self)
        let expiresAt = try row.decode("expires_at", as: PostgresTimestamp?.self)
        let revokedAt = try row.decode("revoked_at", as: PostgresTimestamp?.self)
        self.init(
            kind: kind, productID: try row.decode("product_id"), purchasedAt: Timestamp(purchasedAt),
            expiresAt: expiresAt.map { Timestamp($0) }, revokedAt: revokedAt.map { Timestamp($0) },
            gaps: try OneTimePurchase.Gap.all(of: row),
            signedAccount: UniqueIdentifier(accountToken: try row.decode("app_account_token")),
            earlierAccounts: try OneTimePurchase.EarlierAccount.all(of: row))
    }
}

extension StaffAct.Kind {
    /// Reads the columns `kind`, `tier` and `days`; nil for a kind that this release does not know.
    init?(_ row: PostgresRow) throws {
        let tier = try row.decode("tier", as: String?.self)
        let days = try row.decode("days", as: Int32?.self).map(Int64.init)
        switch (try row.decode("kind", as: String.self), tier, days) {
        case ("grant", let tier?, let days?): self = .grant(tier: tier, days: days)
        case ("extend", _, let days?): self = .extend(days: days)
        case ("revoke", _, _): self = .revoke
        case ("unrevoke", _, _): self = .unrevoke
        case ("change_tier", let tier?, _): self = .changeTier(to: tier)
        default: return nil
        }
    }
}

extension PurchaseOwnership {
    /// Reads the columns of aggregated bindings.
    init(bindings row: PostgresRow) throws {
        guard let ids = try row.decode("binding_ids", as: [Int64]?.self) else {
            self.init()
            return
        }
        let kinds = try row.decode("binding_kinds", as: [String].self)
        let tokens = try row.decode("binding_tokens", as: [UUID].self)
        let instants = try row.decode("binding_instants", as: [PostgresTimestamp].self)
        self.init(
            ids.indices.compactMap { place in
                guard let kind = PurchaseBinding.Kind(rawValue: kinds[place]),
                    let account = UniqueIdentifier(accountToken: tokens[place])
                else { return nil }
                return PurchaseBinding(id: ids[place], kind: kind, account: account, at: Timestamp(instants[place]))
            })
    }
}
