import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore

extension AccountStore {
    /// Gives up a prepared catalog. Rows that others have locked go with the next catalog. Where no catalog is
    /// current, `account_lines` is not kept from now on, so that the next one has to fill it first.
    func withdraw(_ version: Int64) async throws {
        try await pool.query(
            PostgresQuery(
                "catalog.withdraw",
                """
                update storehook.catalog_state
                   set preparing_version = null, is_linked = is_linked and current_version is not null
                 where preparing_version = \(version)
                """),
            durably: true)
        _ = try? await sweep(keeping: nil, .zero)
    }

    /// How many accounts' rows are swept at once.
    private static let sweepPage = 1000

    /// Deletes rows of unused catalogs, 1,000 accounts at a time. Only transactions that began under such a catalog
    /// can block it.
    func sweep(keeping version: Int64?, _ patience: Duration) async throws {
        var last: UniqueIdentifier?
        repeat {
            let after = last.map { UUID($0) }
            last = try await step("catalog.sweep", patience: patience) { session, _ in
                try session.query(
                    PostgresQuery(
                        "catalog.sweep",
                        """
                        with page as materialized (
                            select distinct token from storehook.account_status
                             where \(after)::uuid is null or token > \(after)
                             order by token limit \(Self.sweepPage)
                        ), swept as (
                            delete from storehook.account_status s using page, storehook.catalog_state c
                             where s.token = page.token and s.catalog is distinct from \(version)
                               and s.catalog is distinct from c.current_version
                               and s.catalog is distinct from c.preparing_version
                        )
                        select token from page order by token desc limit 1
                        """)
                ).first.map { UniqueIdentifier(try $0.decode(0, as: UUID.self)) }
            }
        } while last != nil
    }
}
