import Accounts
import AppStorePayloads
package import Base
import Foundation
import Postgres
import PurchaseStore

/// An account that loses its access soon, with nothing to renew it.
package struct ExpiringAccount: Sendable, Hashable {
    /// Its token.
    package var token: UniqueIdentifier
    /// What the app's own tokens call it.
    package var account: String?
    /// Its tier now.
    package var tier: String
    /// Its status now.
    package var status: String
    /// What gives it access now.
    package var source: String
    /// Apple's id of the product, where a purchase gives access.
    package var productID: String?
    /// The app of the product.
    package var bundleID: String?
    /// When its access ends.
    package var accessUntil: Timestamp
    /// Days until then; a day that has begun counts.
    package var daysLeft: Int
}

extension AccountStore {
    /// The parts of an expiring account's ``ListCursor``: when its access ends, in microseconds since 1970, and its token.
    package static let expiringCursorParts = 2

    /// Whether a cursor is one of ``expiring(within:in:of:after:limit:)``.
    package static func isExpiringCursor(_ cursor: ListCursor) -> Bool { ExpiringMark(cursor) != nil }

    /// How many accounts that lose their access one page looks through at most, where some of them are asked for.
    package static let mostExpiringLookedThrough = 2000

    /// The accounts that lose their access within some days with nothing to renew it, the earliest first. An index
    /// answers it, whatever the number of accounts.
    /// - Parameters:
    ///   - days: within how many; by default the catalog's `warning_days`.
    ///   - apps: of those that have, or had, a purchase of one of these apps; nil for all.
    ///   - cursor: behind it.
    ///   - limit: the most accounts to return, 1 or more.
    ///   - most: how many are looked through for those of the environment and the apps; nil for all that there are.
    /// - Throws: ``ActRefusal/noCatalog``, ``UnreadableCatalog``, `PostgresError`.
    package func expiring(
        within days: Int? = nil, in environment: String, of apps: [String]? = nil, after cursor: ListCursor? = nil,
        limit: Int, lookingThrough most: Int? = nil
    ) async throws -> (days: Int, accounts: ListPage<ExpiringAccount>) {
        let mark = cursor.flatMap { ExpiringMark($0) }
        let window = most.map { max($0, limit) }
        let options = TransactionOptions(isolation: .repeatableRead, isReadOnly: true, name: "accounts.expiring")
        return try await pool.withTransaction(options) { session in
            guard let catalog = try self.current(session)?.catalog else { throw ActRefusal.noCatalog }
            let days = days ?? catalog.warningDays
            let soon = PostgresQuery.expiring(within: days, after: mark)
            let rows = try session.query(
                .expiring(soon, in: environment, of: apps, lookingThrough: window, limit: limit + 1))
            let accounts = try rows.prefix(limit).map { (try ExpiringAccount($0), try ExpiringMark($0)) }
            if rows.count > limit { return (days, ListPage(accounts.map(\.0), next: accounts.last?.1.cursor)) }
            guard let window, let end = try session.query(.endOfExpiring(soon, lookingThrough: window)).first else {
                return (days, ListPage(accounts.map(\.0)))
            }
            return (days, ListPage(accounts.map(\.0), next: try ExpiringMark(end).cursor, lookedThrough: window))
        }
    }
}

extension PostgresQuery {
    /// Those of all environments and apps, behind a mark.
    fileprivate static func expiring(within days: Int, after mark: ExpiringMark?) -> PostgresQuery {
        """
        select * from storehook.expiring_soon(make_interval(hours => \(Int32(clamping: days * 24))))
         where access_until >= coalesce(\(mark?.end)::timestamptz, '-infinity')
           and (\(mark == nil) or (access_until, token) > (\(mark?.end)::timestamptz, \(mark?.token)::uuid))
         order by access_until, token
        """
    }

    /// Those in one environment and of some apps. The last place that is looked through is taken with all accounts that share it: a cursor
    /// does not name the environment.
    fileprivate static func expiring(
        _ soon: PostgresQuery, in environment: String, of apps: [String]?, lookingThrough window: Int?, limit: Int
    ) -> PostgresQuery {
        PostgresQuery(
            "accounts.expiring",
            """
            with soon as (\(embedding: soon) fetch first (\(window.map { Int64($0) } ?? .max)) rows with ties)
            select e.token, e.account, e.tier, e.status, e.source, e.product_id, e.bundle_id, e.access_until, e.days_left
              from soon e
             where e.environment = \(environment)
               and (\(apps)::text[] is null
                    or exists (select from storehook.account_lines l
                                where l.token = e.token and l.environment = e.environment and l.bundle_id = any (\(apps))))
             order by e.access_until, e.token
             limit \(Int64(limit))
            """)
    }

    /// The last that is looked through; no row where there are fewer.
    fileprivate static func endOfExpiring(_ soon: PostgresQuery, lookingThrough window: Int) -> PostgresQuery {
        PostgresQuery("accounts.expiring_end", "\(embedding: soon) offset \(Int64(window) - 1) limit 1")
    }
}

extension ExpiringAccount {
    fileprivate init(_ row: PostgresRow) throws {
        token = UniqueIdentifier(try row.decode("token", as: UUID.self))
        account = try row.decode("account")
        tier = try row.decode("tier")
        status = try row.decode("status")
        source = try row.decode("source")
        productID = try row.decode("product_id")
        bundleID = try row.decode("bundle_id")
        accessUntil = Timestamp(try row.decode("access_until", as: PostgresTimestamp.self))
        daysLeft = Int(try row.decode("days_left", as: Int32.self))
    }
}

/// A place in the list of accounts that lose their access.
private struct ExpiringMark: Sendable {
    var end: PostgresTimestamp
    var token: UUID

    init(_ row: PostgresRow) throws {
        end = try row.decode("access_until")
        token = try row.decode("token")
    }

    init?(_ cursor: ListCursor) {
        guard cursor.parts.count == AccountStore.expiringCursorParts, let microseconds = Int64(cursor.parts[0]),
            microseconds.magnitude < 1 << 58, let token = UniqueIdentifier(cursor.parts[1])
        else { return nil }
        end = PostgresTimestamp(microsecondsSince1970: microseconds)
        self.token = UUID(token)
    }

    var cursor: ListCursor {
        ListCursor(behind: ["\(end.microsecondsSince1970)", UniqueIdentifier(token).description])
    }
}
