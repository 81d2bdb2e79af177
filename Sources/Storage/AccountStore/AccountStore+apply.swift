package import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

extension AccountStore {
    /// The result of applying a catalog.
    package struct Applied: Sendable, Hashable {
        /// The catalog's number.
        package var version: Int64
        /// How many accounts there are.
        package var accounts = 0
        /// What changed for accounts at the moment at which it became current.
        package var moves: [TierMove: Int] = [:]
    }

    /// How many purchases or accounts one transaction locks: workers may have to wait for them.
    static let page = 100

    /// Makes a catalog current, for all accounts at one instant, while workers go on; the earlier one stays on record.
    /// The first catalog also binds all purchases to the accounts that Apple signed into them.
    ///
    /// **Why no account keeps stale phases.**
    /// 1. The catalog is recorded as being prepared, and that is committed. Every transaction that changes facts reads
    ///    `catalog_state` after it has written something, and derives under both the current and the prepared catalog.
    /// 2. Transactions that were running at that commit may have read it earlier. Each has a transaction ID by then
    ///    and a lock on `catalog_state`; these identify it, and it is waited for (``waitForWriters(patience:)``). All
    ///    of them read committed data, so none reads with a snapshot older than its lock.
    /// 3. Only then the purchases and accounts are processed in pages, and each page locks its accounts. A page sees
    ///    all that those transactions did, and all that was done to an account before the page locked it. A
    ///    transaction that comes after the page derives under the prepared catalog again. Accounts inserted behind it
    ///    come from transactions that know the catalog.
    /// 4. One statement makes the catalog current. Transactions that read `catalog_state` before it derive under this
    ///    catalog, too; later ones see it as the current one.
    ///
    /// If the process is killed in between, the catalog stays in preparation. That costs workers some time, and the
    /// next apply takes over.
    ///
    /// Accounts for which the two catalogs agree (``/Accounts/CatalogChange``) are not derived again: their rows are
    /// carried over.
    ///
    /// **Why it does not block others.** No page waits for one row longer than a fraction of a second, nor for all of
    /// its rows longer than a second: it releases its locks and is tried again (``step(_:isDurable:patience:_:)``). If
    /// another transaction blocks it for longer than `patience`, it ends, and no account has changed.
    /// - Parameters:
    ///   - yaml: the file.
    ///   - person: who applies it.
    ///   - why: why, for the audit; nil where no reason is given.
    ///   - patience: how long other transactions may block it.
    ///   - onPage: called with the number of accounts done.
    /// - Throws: `CatalogFault` where the file cannot be used, ``ApplyRefusal``, `PostgresError`.
    package func apply(
        _ yaml: String, by person: String, why: String? = nil, patience: Duration = AccountStore.usualPatience,
        onPage: @Sendable (Int) -> Void = { _ in }
    ) async throws -> Applied {
        let catalog = try Catalog(yaml: yaml)
        // A transaction that blocks already is reported before anything is written.
        try await waitForWriters(patience: patience)
        let (version, isLinked) = try await prepare(yaml, catalog, by: person)
        do {
            return try await go(through: version, catalog, isLinked: isLinked, why, patience, onPage)
        } catch let refusal as ApplyRefusal {
            if refusal != .superseded { try await withdraw(version) }
            throw refusal
        }
    }

    /// The current catalog's number, where it says what another one says, word for word or not; nil where it says anything else, where
    /// none is current, and while another one is being prepared.
    package func standing(as catalog: Catalog) async throws -> Int64? {
        try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "catalog.standing")) { session in
            let moment = try AccountMoment(session)
            guard let version = moment.current, moment.preparing == nil else { return nil }
            return try self.readable(version, session) == catalog ? version : nil
        }
    }

    /// How long other transactions may block a catalog by default.
    package static let usualPatience = Duration.seconds(60)

    /// The current catalog, and what the new one changes.
    private struct Base {
        var current: Int64
        var change: CatalogChange
    }

    private func go(
        through version: Int64, _ catalog: Catalog, isLinked: Bool, _ why: String?, _ patience: Duration,
        _ onPage: @Sendable (Int) -> Void
    ) async throws -> Applied {
        try await waitForWriters(patience: patience)
        try await sweep(keeping: version, patience)
        if !isLinked { try await linkAll(for: version, patience) }
        let base = try await base(of: catalog)
        var applied = Applied(version: version)
        var last: UniqueIdentifier?
        while true {
            let page = try await preparePage(after: last, for: version, base, patience)
            guard let end = page.last else { break }
            last = end
            applied.accounts += page.count
            onPage(applied.accounts)
        }
        applied.moves = try await makeCurrent(version, why, patience)
        await announceAll()
        // Until then they were derived as if it had become current a little earlier. Rebuilding mends what is left out here.
        if let base { try? await dateSwitch(to: version, base, patience) }
        // The catalog is current: rows that others have locked go with the next catalog.
        _ = try? await sweep(keeping: version, patience)
        return applied
    }

    /// Nil where there is no current catalog, or none that this release can read: then every account is derived.
    private func base(of catalog: Catalog) async throws -> Base? {
        do {
            return try await current().map {
                Base(current: $0.version, change: CatalogChange(from: $0.catalog, to: catalog))
            }
        } catch is UnreadableCatalog { return nil }
    }

    private func prepare(
        _ yaml: String, _ catalog: Catalog, by person: String
    ) async throws -> (version: Int64, isLinked: Bool) {
        try await pool.withTransaction(TransactionOptions(isDurable: true, name: "catalog.prepare")) { session in
            let row = try session.query(
                PostgresQuery(
                    "catalog.prepare",
                    """
                    with added as (
                        insert into storehook.catalogs (source, applied_by, product_keys)
                        values (\(yaml), \(String(person.prefix(200))), \(catalog.productKeys)) returning version
                    )
                    update storehook.catalog_state set preparing_version = added.version from added
                    returning added.version, is_linked
                    """)
            ).one()
            return (try row.decode(0), try row.decode(1))
        }
    }

    private func requirePreparing(_ version: Int64, _ session: borrowing PostgresSession) throws -> AccountMoment {
        let moment = try AccountMoment(session)
        guard moment.preparing == version else { throw ApplyRefusal.superseded }
        return moment
    }

    /// Records the accounts of all purchases.
    private func linkAll(for version: Int64, _ patience: Duration) async throws {
        var last: PurchaseKey?
        while true {
            let after = last
            let keys = try await step("catalog.link", patience: patience) { session, wait in
                let keys = try Ledger().purchases(after: after, limit: Self.page, session)
                try wait.spend(session) { try Ledger.hold(keys, deadline: $0, session) }
                _ = try self.requirePreparing(version, session)
                if !keys.isEmpty {
                    let accounts = try self.link(keys, session).sorted()
                    try wait.spend(session) { try self.hold(accounts, deadline: $0, session) }
                }
                return keys
            }
            guard let end = keys.last else { break }
            last = end
        }
        try await pool.query(
            PostgresQuery(
                "catalog.linked",
                "update storehook.catalog_state set is_linked = true where preparing_version = \(version)"))
    }

    private func preparePage(
        after last: UniqueIdentifier?, for version: Int64, _ base: Base?, _ patience: Duration
    ) async throws -> [UniqueIdentifier] {
        try await step("catalog.accounts", patience: patience) { session, wait in
            let accounts = try self.accounts(after: last, session)
            try wait.spend(session) { try self.hold(accounts, deadline: $0, session) }
            let moment = try self.requirePreparing(version, session)
            guard let base, base.current == moment.current else {
                // The first catalog also says what accounts were before it.
                let extent: Extent = moment.current == nil ? .whole : .kept
                _ = try self.derive(accounts, under: moment, only: version, extent: extent, session)
                return accounts
            }
            let concerned = try self.concerned(by: base.change, of: accounts, session)
            _ = try self.derive(concerned, under: moment, only: version, extent: .kept, session)
            let rest = Set(concerned)
            try self.carry(accounts.filter { !rest.contains($0) }, from: base.current, to: version, session)
            return accounts
        }
    }

    /// Derives the accounts that a catalog changes once more, now that the instant is known at which it became current.
    private func dateSwitch(to version: Int64, _ base: Base, _ patience: Duration) async throws {
        guard !base.change.isOfNone else { return }
        var last: UniqueIdentifier?
        repeat {
            let after = last
            last = try await step("catalog.date", patience: patience) { session, wait in
                let accounts = try self.accounts(after: after, session)
                let concerned = try self.concerned(by: base.change, of: accounts, session)
                try wait.spend(session) { try self.hold(concerned, deadline: $0, session) }
                let moment = try AccountMoment(session)
                guard moment.current == version else { return nil }
                _ = try self.derive(concerned, under: moment, only: version, extent: .kept, silently: true, session)
                return accounts.last
            }
        } while last != nil
    }

    /// The next accounts, in order.
    func accounts(
        after last: UniqueIdentifier?, limit: Int = AccountStore.page, _ session: borrowing PostgresSession
    ) throws -> [UniqueIdentifier] {
        let last = last.map { UUID($0) }
        return try session.query(
            PostgresQuery(
                "accounts.page",
                """
                select token from storehook.accounts
                 where \(last)::uuid is null or token > \(last)
                 order by token limit \(limit)
                """)
        ).map { UniqueIdentifier(try $0.decode(0, as: UUID.self)) }
    }

    /// Switches the catalog, and returns what that changed as of now.
    private func makeCurrent(
        _ version: Int64, _ why: String?, _ patience: Duration
    ) async throws -> [TierMove: Int] {
        try await step("catalog.switch", isDurable: true, patience: patience) { session, _ in
            // The database takes it into the audit.
            if let why {
                try session.query(PostgresQuery("catalog.why", "select set_config('storehook.why', \(why), true)"))
            }
            let before = try AccountMoment(session).current
            let switched = try session.query(
                PostgresQuery(
                    "catalog.switch",
                    """
                    with switched as (
                        update storehook.catalog_state set current_version = \(version), preparing_version = null
                         where preparing_version = \(version) and is_linked
                        returning current_version
                    )
                    update storehook.catalogs c
                       set current_from = case when \(before)::bigint is null then '-infinity'
                                               else date_trunc('milliseconds', clock_timestamp()) end
                      from switched where c.version = switched.current_version
                    """)
            ).affectedRows
            guard switched == 1 else { throw ApplyRefusal.superseded }
            // If a newer release applied the earlier catalog, this one cannot read its free tier; accounts have rows
            // under it.
            let free = try before.flatMap { try self.readable($0, session)?.free.id }
            let rows = try session.query(
                PostgresQuery(
                    "catalog.moves",
                    """
                    select n.environment,
                           coalesce(o.phase_tier[greatest(width_bucket(now(), o.phase_starts), 1)], \(free)::text) as before,
                           n.phase_tier[greatest(width_bucket(now(), n.phase_starts), 1)] as after, count(*) as accounts
                      from storehook.account_status n
                      left join storehook.account_status o
                           on o.token = n.token and o.environment = n.environment and o.catalog = \(before)
                     where n.catalog = \(version)
                     group by 1, 2, 3
                    """), deadline: .seconds(600))
            return try rows.reduce(into: [:]) { moves, row in
                let move = TierMove(
                    environment: try row.decode("environment"), before: try row.decode("before"),
                    after: try row.decode("after"))
                if move.before != move.after { moves[move] = Int(try row.decode("accounts", as: Int64.self)) }
            }
        }
    }

    private func readable(_ version: Int64, _ session: borrowing PostgresSession) throws -> Catalog? {
        do { return try catalog(version, session) } catch is UnreadableCatalog { return nil }
    }
}
