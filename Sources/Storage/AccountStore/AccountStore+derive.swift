import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

extension AccountStore {
    /// Derives locked accounts under the current and the prepared catalog, and writes what differs.
    /// - Parameters:
    ///   - only: derive under this catalog alone.
    ///   - extent: how far back they may have changed.
    ///   - isSilent: whether their versions stay: nothing has changed but what is said of instants that are over.
    ///   - noting: called with each known account and its state under the current catalog.
    /// - Returns: the accounts that changed under the current catalog.
    func derive(
        _ accounts: [UniqueIdentifier], under moment: AccountMoment, only: Int64? = nil,
        having derived: DerivedSubscriptions = DerivedSubscriptions(), extent: Extent = .whole,
        silently isSilent: Bool = false,
        noting note: (LoadedAccount, AccountState) -> Void = { _, _ in }, _ session: borrowing PostgresSession
    ) throws -> Set<UniqueIdentifier> {
        guard !accounts.isEmpty else { return [] }
        var versions: [(version: Int64, timeline: CatalogTimeline)] = []
        for version in moment.versions where only == nil || version == only {
            versions.append((version, try timeline(to: version, moment, session)))
        }
        let loaded = try load(
            accounts, for: versions.flatMap(\.timeline.catalogs), having: derived, extent: extent, session)
        var changed: Set<UniqueIdentifier> = []
        for (version, timeline) in versions {
            var rows: [StoredAccount] = []
            var history: [AccountPast] = []
            for account in loaded where account.isKnown {
                let state = account.state(by: timeline)
                let kept = account.derivedFrom < account.keptFrom ? state.from(account.keptFrom) : state
                if version == moment.current { note(account, kept) }
                rows.append(account.row(of: kept, version))
                if let past = AccountPast(account, state, before: rows[rows.count - 1]) { history.append(past) }
            }
            guard !rows.isEmpty else { continue }
            // Catalogs that came after an instant say nothing of it: all of them have one history.
            if version == moment.current || moment.current == nil { try write(history, session) }
            if version == moment.current {
                for row in try session.query(.write(rows, silently: isSilent)) {
                    changed.insert(UniqueIdentifier(try row.decode(0, as: UUID.self)))
                }
            } else {
                try session.query(.prepare(rows, beside: moment.current))
            }
        }
        return changed
    }
}

extension LoadedAccount {
    /// Its state, as far back as it is derived.
    func state(by timeline: CatalogTimeline) -> AccountState {
        AccountState(facts, by: timeline, from: derivedFrom)
    }

    func row(of state: AccountState, _ version: Int64) -> StoredAccount {
        StoredAccount(token: token, environment: environment, catalog: version, state)
    }

    /// The purchases that it owns at an instant.
    func owned(at instant: Timestamp) -> [PurchaseKey] {
        lines.map(\.line).filter { $0.owner(at: instant) == token }.map(\.key)
    }
}

extension PostgresQuery {
    /// What is derived of a row, for comparing it.
    private static func phases(of row: String) -> String {
        "(\((["known_from"] + StoredAccount.columns).map { "\(row).\($0)" }.joined(separator: ", ")))"
    }
    private static let differs = "\(phases(of: "known")) is distinct from \(phases(of: "excluded"))"

    private static let columns = (["token", "environment", "catalog", "known_from"] + StoredAccount.columns)
        .joined(separator: ", ")
    private static let replaced = (["known_from"] + StoredAccount.columns)
        .map { "\($0) = excluded.\($0)" }.joined(separator: ", ")

    /// Writes rows of the current catalog where they differ; each change increments their version, unless it is a silent one.
    fileprivate static func write(_ rows: [StoredAccount], silently isSilent: Bool) -> PostgresQuery {
        PostgresQuery(
            "accounts.write",
            """
            with \(embedding: .derived(rows))
            insert into storehook.account_status as known (\(unescaped: columns), version)
            select \(unescaped: columns), 1 from derived
                on conflict (token, environment, catalog) do update
               set \(unescaped: replaced), version = known.version + \(unescaped: isSilent ? "0" : "1"), changed_at = now()
             where \(unescaped: differs)
            returning token
            """
        ).keepingPlan()
    }

    /// Writes rows of a catalog that is being prepared. Their version is the one that readers will see: one more than
    /// now where the phases differ, the current one otherwise. It never shrinks, because a transaction that began
    /// before the switch may still write these rows when readers see them. An account without a row was free.
    fileprivate static func prepare(_ rows: [StoredAccount], beside current: Int64?) -> PostgresQuery {
        let versions = """
            select derived.*,
                   case when shown.token is null then 1
                        when \(phases(of: "shown")) is distinct from \(phases(of: "derived")) then shown.version + 1
                        else shown.version end as version
              from derived
              left join storehook.account_status shown
                   on shown.token = derived.token and shown.environment = derived.environment
            """
        return PostgresQuery(
            "accounts.prepare",
            """
            with \(embedding: .derived(rows)), versioned as (
                \(unescaped: versions) and shown.catalog = \(current)
            )
            insert into storehook.account_status as known (\(unescaped: columns), version)
            select \(unescaped: columns), version from versioned
                on conflict (token, environment, catalog) do update
               set \(unescaped: replaced), changed_at = now(),
                   version = greatest(
                       excluded.version,
                       known.version + case when \(unescaped: differs) then 1 else 0 end)
             where \(unescaped: differs)
                or known.version < excluded.version
            """)
    }
}
