import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore

extension AccountStore {
    /// Which of some accounts a change of catalogs may concern, in order.
    func concerned(
        by change: CatalogChange, of accounts: [UniqueIdentifier], _ session: borrowing PostgresSession
    ) throws -> [UniqueIdentifier] {
        if change.isOfAll || accounts.isEmpty { return accounts }
        if change.isOfNone { return [] }
        let (products, tiers) = (change.products.sorted(), change.tiers.sorted())
        return try session.query(
            PostgresQuery(
                "catalog.concerned",
                """
                select a.token
                  from unnest(\(accounts.map { UUID($0) })) with ordinality as a (token, place)
                 where exists (
                        select from storehook.account_lines l
                          left join storehook.subscriptions s
                                 on s.original_transaction_id = l.original_transaction_id
                                and s.bundle_id = l.bundle_id and s.environment = l.environment
                          left join storehook.one_time_purchases o
                                 on o.original_transaction_id = l.original_transaction_id
                                and o.bundle_id = l.bundle_id and o.environment = l.environment
                         where l.token = a.token
                           and (s.phase_product && \(products) or o.product_id = any(\(products))
                                or (s.earlier_phases > 0 and exists (
                                    select from storehook.subscription_history h
                                     where h.original_transaction_id = l.original_transaction_id
                                       and h.bundle_id = l.bundle_id and h.environment = l.environment
                                       and h.phase_product && \(products)))))
                    or (cardinality(\(tiers)) > 0
                        and (exists (select from storehook.staff_acts d
                                      where d.token = a.token and d.tier = any(\(tiers)))
                             or exists (select from storehook.trials t
                                         where t.token = a.token and t.tier = any(\(tiers)))))
                 order by a.place
                """)
        ).map { UniqueIdentifier(try $0.decode(0, as: UUID.self)) }
    }

    /// Copies the phases of locked accounts from the current catalog to a prepared one, under which they would be
    /// derived alike. The version that readers see stays, too.
    func carry(
        _ accounts: [UniqueIdentifier], from current: Int64, to version: Int64, _ session: borrowing PostgresSession
    ) throws {
        guard !accounts.isEmpty else { return }
        let columns = (["known_from"] + StoredAccount.columns).joined(separator: ", ")
        try session.query(
            PostgresQuery(
                "catalog.carry",
                """
                insert into storehook.account_status as known (token, environment, catalog, version, \(unescaped: columns))
                select token, environment, \(version), version, \(unescaped: columns)
                  from storehook.account_status
                 where token = any(\(accounts.map { UUID($0) })) and catalog = \(current)
                    on conflict (token, environment, catalog) do update set version = excluded.version
                 where known.version < excluded.version
                """))
    }
}
