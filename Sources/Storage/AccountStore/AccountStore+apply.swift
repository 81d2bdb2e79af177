import Accounts
import AppStorePayloads
import Catalog
import Foundation
import Ledger
import Postgres
import Subscriptions

/// Why a catalog was not made current.
package enum ApplyRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// Another catalog is being prepared by now.
    case superseded

    /// One line: what happened, and what to do.
    package var description: String {
        "another catalog is being applied, so that this one was not made current; apply it again afterwards if it is meant"
    }
}

extension AccountStore {
    /// What applying a catalog came to.
    package struct Applied: Sendable, Hashable {
        /// The catalog's number.
        package var version: Int64
        /// How many accounts there are.
        package var accounts = 0
        /// What changed for accounts at the moment at which it became current.
        package var moves: [TierMove: Int] = [:]
    }

    /// How many purchases or accounts are held at once: what workers may have to wait for.
    static let page = 100

    /// Makes a catalog current, for all accounts at one instant, while workers go on; the earlier one stays on record. The first one
    /// also binds all purchases to the accounts that Apple signed into them.
    ///
    /// **Why no account keeps phases of before.** (1) The catalog is noted as being prepared and that is committed. Whoever changes
    /// facts asks for `catalog_state` in the same transaction, after it has written something, and derives under both the current
    /// and the prepared one. (2) Transactions that were running at that commit may have asked before it: each has a number by then,
    /// so they are waited for until the oldest transaction that runs is younger. (3) Only then purchases and accounts are gone
    /// through, each page holding its accounts: a page sees all that those transactions did; whoever comes before it at an account
    /// is seen by it, and whoever comes after it derives under the prepared catalog again. Accounts that turn up
    /// behind it were made by transactions that know of the catalog. (4) One statement makes it current. Who asked before that
    /// derives under it, too, and who asks after it sees it as the current one. Whoever is killed in between leaves a catalog being
    /// prepared, which costs workers some time and is taken over by the next who applies one.
    /// - Parameters:
    ///   - yaml: the file.
    ///   - person: who applies it.
    ///   - onPage: told how many accounts are done.
    /// - Throws: `CatalogFault` where the file cannot be used, ``ApplyRefusal``, `PostgresError`.
    package func apply(
        _ yaml: String, by person: String, onPage: @Sendable (Int) -> Void = { _ in }
    ) async throws -> Applied {
        _ = try Catalog(yaml: yaml)
        let (version, isLinked) = try await prepare(yaml, by: person)
        try await waitForOlderTransactions()
        try await sweep(keeping: version)
        if !isLinked { try await linkAll(for: version) }
        var applied = Applied(version: version)
        var last: UniqueIdentifier?
        while true {
            let page = try await preparePage(after: last, for: version)
            guard let end = page.last else { break }
            last = end
            applied.accounts += page.count
            onPage(applied.accounts)
        }
        applied.moves = try await makeCurrent(version)
        await announceAll()
        try await sweep(keeping: version)
        return applied
    }

    private func prepare(_ yaml: String, by person: String) async throws -> (version: Int64, isLinked: Bool) {
        try await pool.withTransaction(TransactionOptions(isDurable: true, name: "catalog.prepare")) { session in
            let row = try session.query(
                PostgresQuery(
                    "catalog.prepare",
                    """
                    with added as (
                        insert into storehook.catalogs (source, applied_by)
                        values (\(yaml), \(String(person.prefix(200)))) returning version
                    )
                    update storehook.catalog_state set preparing_version = added.version from added
                    returning added.version, is_linked
                    """)
            ).one()
            return (try row.decode(0), try row.decode(1))
        }
    }

    /// Waits until every transaction has ended that had a number when this began.
    private func waitForOlderTransactions() async throws {
        let end: String = try await pool.query(
            PostgresQuery("catalog.youngest", "select pg_snapshot_xmax(pg_current_snapshot())::text")
        ).one().decode(0)
        while true {
            let isOver: Bool = try await pool.query(
                PostgresQuery(
                    "catalog.oldest", "select pg_snapshot_xmin(pg_current_snapshot()) >= \(end)::text::xid8")
            ).one().decode(0)
            if isOver { return }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func requirePreparing(_ version: Int64, _ session: borrowing PostgresSession) throws -> AccountMoment {
        let moment = try AccountMoment(session)
        guard moment.preparing == version else { throw ApplyRefusal.superseded }
        return moment
    }

    /// Notes the accounts of all purchases.
    private func linkAll(for version: Int64) async throws {
        var last: PurchaseKey?
        while true {
            let (after, options) = (last, TransactionOptions(name: "catalog.link"))
            let keys = try await pool.withTransaction(options) { session in
                let keys = try Ledger().purchases(after: after, limit: Self.page, session)
                try Ledger.hold(keys, session)
                _ = try self.requirePreparing(version, session)
                if !keys.isEmpty { try self.hold(try self.link(keys, session).sorted(), session) }
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

    private func preparePage(after last: UniqueIdentifier?, for version: Int64) async throws -> [UniqueIdentifier] {
        try await pool.withTransaction(TransactionOptions(name: "catalog.accounts")) { session in
            let accounts = try self.accounts(after: last, session)
            try self.hold(accounts, session)
            let moment = try self.requirePreparing(version, session)
            _ = try self.derive(accounts, under: moment, only: version, session)
            return accounts
        }
    }

    /// The next accounts, in order.
    func accounts(after last: UniqueIdentifier?, _ session: borrowing PostgresSession) throws -> [UniqueIdentifier] {
        let last = last.map { UUID($0) }
        return try session.query(
            PostgresQuery(
                "accounts.page",
                """
                select token from storehook.accounts
                 where \(last)::uuid is null or token > \(last)
                 order by token limit \(Self.page)
                """)
        ).map { UniqueIdentifier(try $0.decode(0, as: UUID.self)) }
    }

    /// The switch, and what it changed as of now.
    private func makeCurrent(_ version: Int64) async throws -> [TierMove: Int] {
        try await pool.withTransaction(TransactionOptions(isDurable: true, name: "catalog.switch")) { session in
            let before = try AccountMoment(session).current
            let switched = try session.query(
                PostgresQuery(
                    "catalog.switch",
                    """
                    update storehook.catalog_state set current_version = \(version), preparing_version = null
                     where preparing_version = \(version) and is_linked
                    """)
            ).affectedRows
            guard switched == 1 else { throw ApplyRefusal.superseded }
            let free = try before.map { try self.catalog($0, session).free.id }
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
                    """))
            return try rows.reduce(into: [:]) { moves, row in
                let move = TierMove(
                    environment: try row.decode("environment"), before: try row.decode("before"),
                    after: try row.decode("after"))
                if move.before != move.after { moves[move] = Int(try row.decode("accounts", as: Int64.self)) }
            }
        }
    }

    /// Deletes the rows of catalogs that nobody reads, a page of accounts at a time.
    private func sweep(keeping version: Int64) async throws {
        var last: UniqueIdentifier?
        while true {
            let after = last
            let page = try await pool.withTransaction(TransactionOptions(name: "catalog.sweep")) { session in
                let accounts = try self.accounts(after: after, session)
                try session.query(
                    PostgresQuery(
                        "catalog.sweep",
                        """
                        delete from storehook.account_status s using storehook.catalog_state c
                         where s.token = any(\(accounts.map { UUID($0) })) and s.catalog <> \(version)
                           and s.catalog is distinct from c.current_version
                           and s.catalog is distinct from c.preparing_version
                        """))
                return accounts
            }
            guard let end = page.last else { return }
            last = end
        }
    }
}
