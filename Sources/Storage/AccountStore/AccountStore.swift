package import Accounts
import AppStorePayloads
package import Base
import Foundation
package import Postgres
import PurchaseStore
import Synchronization

/// Who owns each purchase, acts of staff, the app's trials, and each account's status as a function of time.
///
/// A transaction that changes what a status depends on derives it as well (``settle(_:naming:_:)``). Locks are taken
/// in one order everywhere: purchases by their keys, then accounts by their tokens.
package final class AccountStore: Sendable {
    let pool: PostgresPool
    private let announcer: AccountAnnouncer
    /// The catalogs that were read, by version: a version never changes.
    private let catalogs = Mutex<[Int64: Catalog]>([:])
    /// The catalogs up to the current one, by its version.
    private let timelines = Mutex<[Int64: CatalogTimeline]>([:])

    /// The store behind a pool of connections. One is enough.
    package init(_ pool: PostgresPool) {
        self.pool = pool
        announcer = AccountAnnouncer(pool)
    }

    /// Runs an act in a transaction of its own, and announces the changed accounts after the commit.
    package func transaction<Value: Sendable>(
        _ name: String, _ act: @Sendable (borrowing PostgresSession) throws -> AccountChange<Value>
    ) async throws -> Value {
        let change = try await pool.withTransaction(Self.holding(name)) { try act($0) }
        announce(change.settled?.changed ?? [])
        return change.value
    }

    /// A transaction that locks purchases or accounts. If its process is suspended in the middle, workers wait for
    /// 10 s at most: less than their own statements may take (20 s).
    static func holding(_ name: String, isDurable: Bool = true) -> TransactionOptions {
        TransactionOptions(idleTimeout: .seconds(10), isDurable: isDurable, name: name)
    }

    /// The catalog that is current, and its number; nil where none was ever applied.
    /// - Throws: `PostgresError`; ``UnreadableCatalog`` where a newer release applied it.
    package func current(_ session: borrowing PostgresSession) throws -> (version: Int64, catalog: Catalog)? {
        guard let version = try AccountMoment(session).current else { return nil }
        return (version, try catalog(version, session))
    }

    /// Likewise, in a transaction of its own.
    package func current() async throws -> (version: Int64, catalog: Catalog)? {
        try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "accounts")) { try current($0) }
    }

    /// A catalog as it was applied.
    package struct AppliedCatalog: Sendable, Hashable {
        /// Its number.
        package var version: Int64
        /// When.
        package var at: Timestamp
        /// The actor.
        package var person: String
        /// The file, word for word.
        package var source: String
        /// The number of the one that is being prepared to take its place; nil where none is.
        package var preparing: Int64?
    }

    /// The current catalog as it was applied; nil where none was.
    /// - Parameter instant: the one that was current then; nil for now. Which one was being prepared then is not known.
    package func applied(at instant: Timestamp? = nil) async throws -> AppliedCatalog? {
        let end = instant.map { PostgresTimestamp.end(of: $0) }
        return try await pool.query(
            PostgresQuery(
                "accounts.applied",
                """
                select c.version, c.applied_at, c.applied_by, c.source, case when \(end)::timestamptz is null then s.preparing_version end
                  from storehook.catalog_state s
                  join storehook.catalogs c
                    on c.version = s.current_version
                       or \(end)::timestamptz is not null and c.current_from is not null
                 where \(end)::timestamptz is null or greatest(c.current_from, c.applied_at) <= \(end)
                 order by greatest(c.current_from, c.applied_at) desc, c.version desc limit 1
                """)
        ).first.map { row in
            AppliedCatalog(
                version: try row.decode(0), at: Timestamp(try row.decode(1, as: PostgresTimestamp.self)),
                person: try row.decode(2), source: try row.decode(3), preparing: try row.decode(4))
        }
    }

    /// The catalog of a version that a row names.
    package func catalog(_ version: Int64, _ session: borrowing PostgresSession) throws -> Catalog {
        if let read = self.known(version) { return read }
        let source: String = try session.query(
            PostgresQuery("accounts.catalog", "select source from storehook.catalogs where version = \(version)")
        ).one().decode(0)
        let catalog: Catalog
        do throws(CatalogFault) { catalog = try Catalog(yaml: source) } catch {
            throw UnreadableCatalog(version: version, why: "\(error)")
        }
        catalogs.withLock { known in
            // One is current, one may be prepared, and readers may have begun with an older one.
            if known.count >= Self.catalogsKept { known.removeAll() }
            known[version] = catalog
        }
        return catalog
    }

    private static let catalogsKept = 4

    /// The catalogs that were current one after the other, up to one: the current one, or the one that is being prepared, which takes
    /// over now.
    func timeline(
        to version: Int64, _ moment: AccountMoment, _ session: borrowing PostgresSession
    ) throws -> CatalogTimeline {
        guard let current = moment.current else { return CatalogTimeline(try catalog(version, session)) }
        var timeline = try timeline(current, mustRead: version == current, session)
        let catalog = try catalog(version, session)
        if version != current { timeline?.append(catalog, from: Timestamp(moment.clock)) }
        return timeline ?? CatalogTimeline(catalog)
    }

    /// The catalogs up to the current one.
    func timeline(_ current: Int64, _ session: borrowing PostgresSession) throws -> CatalogTimeline {
        try timeline(current, mustRead: true, session) ?? CatalogTimeline(try catalog(current, session))
    }

    /// The catalogs up to the current one; nil where none of them is known. When one became current never changes.
    /// - Parameter mustRead: whether the current one has to be one that this release can read; where another takes its place, it need not.
    private func timeline(
        _ current: Int64, mustRead: Bool, _ session: borrowing PostgresSession
    ) throws -> CatalogTimeline? {
        if let read = timelines.withLock({ $0[current] }) { return read }
        var timeline: CatalogTimeline?
        for row in try session.query(
            PostgresQuery(
                "accounts.catalogs",
                """
                select version, nullif(coalesce(current_from, applied_at), '-infinity') as current_from
                  from storehook.catalogs where current_from is not null or version = \(current)
                 order by version = \(current), catalogs.current_from, version
                """))
        {
            let version: Int64 = try row.decode("version")
            let from = try row.decode("current_from", as: PostgresTimestamp?.self).map { Timestamp($0) }
            let catalog: Catalog
            do { catalog = try self.catalog(version, session) } catch let error as UnreadableCatalog {
                // A newer release applied it, and its time is answered by the one before.
                guard mustRead, version == current else { continue }
                throw error
            }
            if timeline == nil {
                timeline = CatalogTimeline(catalog)
            } else {
                timeline?.append(catalog, from: from ?? .distantPast)
            }
        }
        guard let timeline, known(current) != nil else { return timeline }
        timelines.withLock { known in
            if known.count >= Self.catalogsKept { known.removeAll() }
            known[current] = timeline
        }
        return timeline
    }

    /// A catalog that was read before, by version.
    func known(_ version: Int64) -> Catalog? { catalogs.withLock { $0[version] } }

    /// The newest catalog that was read; it may be a version behind. Nil where none was read yet.
    package var remembered: Catalog? { catalogs.withLock { known in known.max { $0.key < $1.key }?.value } }

    func announceAll() async { await announcer.announceAll() }

    /// Sends listeners a hint that these accounts changed, outside of the transaction that changed them and after it.
    package func announce(_ accounts: some Collection<UniqueIdentifier>) { announcer.announce(accounts) }

    /// The channel of ``announce(_:)``: each payload is an account's token, or empty where any may have changed.
    package static let channel = AccountAnnouncer.channel
}

/// A stored catalog that this release cannot read.
package struct UnreadableCatalog: Error, Sendable, CustomStringConvertible {
    /// Its number.
    package var version: Int64
    /// What is wrong with it.
    package var why: String

    /// One line.
    package var description: String {
        "catalog \(version) cannot be read by this release (\(why)); upgrade it, or apply a catalog that it can read"
    }
}
