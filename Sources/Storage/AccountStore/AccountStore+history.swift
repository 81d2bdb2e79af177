package import Accounts
import AppStorePayloads
package import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

extension AccountStore {
    /// Derives an account's status at an instant from all phases of its purchases, long-ended ones included, by all
    /// facts known now and under the catalog of that instant.
    /// - Parameters:
    ///   - account: its token.
    ///   - instant: by default now.
    /// - Returns: nil where the account is unknown in this environment; for an erased account, also at an instant before its
    ///   erasure.
    /// - Throws: ``ActRefusal/noCatalog`` where none was ever applied.
    package func history(
        of account: UniqueIdentifier, in environment: String, at instant: Timestamp? = nil
    ) async throws -> AccountView? {
        try await pool.withTransaction(Self.readingHistory) { session in
            let moment = try AccountMoment(session)
            guard let version = moment.current else { throw ActRefusal.noCatalog }
            let timeline = try self.timeline(version, session)
            guard
                let loaded = try self.load([account], for: timeline.catalogs, extent: .whole, session)
                    .first(where: { $0.environment == environment })
            else { return nil }
            let instant = instant ?? Timestamp(moment.clock)
            // What it was before is forgotten, and its first phase says nothing about it.
            if let erasedAt = loaded.erasedAt, instant < erasedAt { return nil }
            return try self.view(of: loaded, at: instant, version, timeline, session)
        }
    }

    static let readingHistory = TransactionOptions(
        isolation: .repeatableRead, isReadOnly: true, name: "accounts.history")

    /// What a loaded account is at an instant.
    /// - Parameter version: that of the last catalog.
    func view(
        of loaded: LoadedAccount, at instant: Timestamp, _ version: Int64, _ timeline: CatalogTimeline,
        _ session: borrowing PostgresSession
    ) throws -> AccountView {
        let (account, environment, catalog) = (loaded.token, loaded.environment, timeline.last)
        let row = try session.query(
            PostgresQuery(
                "accounts.name",
                """
                select \(unescaped: AccountName.column(token: "a.token")), coalesce(s.version, 0) as version
                  from storehook.accounts a
                  left join storehook.account_status s
                       on s.token = a.token and s.environment = \(environment) and s.catalog = \(version)
                 where a.token = \(UUID(account))
                """)
        ).first
        return AccountView(
            token: account, account: try row?.decode("account"), environment: environment, instant: instant,
            catalog: catalog, catalogVersion: version, version: try row?.decode("version") ?? 0,
            state: loaded.state(by: timeline),
            purchases: loaded.lines.map(\.line).sorted { $0.key < $1.key }.map { line in
                SubscriptionView(line, line.phase(at: instant, by: catalog), by: catalog, at: instant)
            }, trial: loaded.trial,
            acts: environment == Environment.production.rawValue ? try acts(of: account, session) : [],
            erasedAt: loaded.erasedAt)
    }

    private func acts(
        of account: UniqueIdentifier, _ session: borrowing PostgresSession
    ) throws -> [AccountView.RecordedAct] {
        try session.query(
            PostgresQuery(
                "accounts.acts",
                """
                select a.id, a.at, a.kind, a.tier, a.days, t.recorded_by, t.why
                  from storehook.staff_acts a
                  left join storehook.staff_texts t on t.what = 'act' and t.id = a.id
                 where a.token = \(UUID(account)) order by a.at, a.id
                """)
        ).compactMap { row in
            guard let kind = try StaffAct.Kind(row) else { return nil }
            let at = try row.decode("at", as: PostgresTimestamp.self)
            return AccountView.RecordedAct(
                StaffAct(id: try row.decode("id"), at: Timestamp(at), kind: kind),
                by: try row.decode("recorded_by"), why: try row.decode("why"))
        }
    }
}
