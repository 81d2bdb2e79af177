import Base
import Foundation
package import Postgres
import Subscriptions
import Synchronization

/// Which products customers hold, by app and environment: what a catalog is held against. It is kept beside the purchases, so that these need
/// not be read.
///
/// A product that this process has seen in the table costs no statement, until one is held for a day longer.
package final class PurchasedProducts: Sendable {
    /// A product that is held.
    package struct Product: Sendable, Hashable {
        /// Apple's name of the environment.
        package var environment: String
        /// The app.
        package var bundleID: String
        /// Apple's id of it.
        package var productID: String

        /// A product.
        package init(environment: String, bundleID: String, productID: String) {
            self.environment = environment
            self.bundleID = bundleID
            self.productID = productID
        }
    }

    /// Until when each is known to stand in the table: what another transaction committed, or this process before.
    private let known = Mutex<[Product: Timestamp]>([:])
    /// More than any operator sells. Beyond it the oldest knowledge is dropped, and looked up again.
    private static let mostKnown = 10_000

    /// Nothing is known yet.
    package init() {}

    /// Records what a batch makes held. It is the last step of its transaction: a worker that waits for the same product waits for the
    /// commit alone.
    package func note(_ deltas: [PurchaseDelta], _ session: borrowing PostgresSession) throws {
        var held: [Product: Timestamp] = [:]
        for delta in deltas {
            for (productID, end) in delta.heldProducts {
                let product = Product(
                    environment: delta.key.environment, bundleID: delta.key.bundleID, productID: productID)
                let day = Self.day(after: end)
                if held[product].map({ $0 < day }) ?? true { held[product] = day }
            }
        }
        let news = known.withLock { known in
            held.filter { product, day in known[product].map { $0 < day } ?? true }
        }
        guard !news.isEmpty else { return }
        let rows = news.sorted {
            ($0.key.bundleID, $0.key.environment, $0.key.productID)
                < ($1.key.bundleID, $1.key.environment, $1.key.productID)
        }
        let products = rows.map { $0.key }
        let days = rows.map { $0.value == .distantFuture ? nil : PostgresTimestamp($0.value) }
        let written = try session.query(
            PostgresQuery(
                "purchased_products.note",
                """
                with seen as (
                    select * from unnest(\(products.map(\.environment)), \(products.map(\.bundleID)), \(products.map(\.productID)),
                                         \(days))
                                  as s (environment, bundle_id, product_id, held_until)
                ), missing as (
                    select s.environment, s.bundle_id, s.product_id, coalesce(s.held_until, 'infinity') as held_until
                      from seen s
                     where not exists (
                           select from storehook.purchased_products p
                            where p.bundle_id = s.bundle_id and p.environment = s.environment
                              and p.product_id = s.product_id and p.held_until >= coalesce(s.held_until, 'infinity'))
                     order by s.bundle_id, s.environment, s.product_id
                )
                insert into storehook.purchased_products as p (environment, bundle_id, product_id, held_until)
                select environment, bundle_id, product_id, held_until from missing
                    on conflict (bundle_id, environment, product_id)
                    do update set held_until = greatest(p.held_until, excluded.held_until)
                returning p.environment, p.bundle_id, p.product_id
                """
            ).keepingPlan()
        ).map { row in
            Product(
                environment: try row.decode(0), bundleID: try row.decode(1), productID: try row.decode(2))
        }
        // What this transaction wrote may be rolled back: it is known once it is found.
        let found = news.filter { !written.contains($0.key) }
        guard !found.isEmpty else { return }
        known.withLock { known in
            if known.count + found.count > Self.mostKnown { known.removeAll() }
            known.merge(found) { max($0, $1) }
        }
    }

    /// Lists what every purchase that is stored holds, whichever release applied it.
    /// - Throws: `PostgresError`.
    package static func listAll(_ session: borrowing PostgresSession) throws {
        // It reads all purchases: some ten seconds for ten million.
        try session.query(
            PostgresQuery("purchased_products.list", "select storehook.list_purchased_products()"),
            deadline: .seconds(3600))
    }

    /// The first midnight (UTC) from an instant on; `distantFuture` beyond what a calendar of four digits has.
    private static func day(after end: Timestamp) -> Timestamp {
        let day: Int64 = 86_400_000
        let last: Int64 = 253_370_764_800_000  // 9999-01-01
        let milliseconds = end.millisecondsSince1970
        guard milliseconds < last else { return .distantFuture }
        let (days, rest) = milliseconds.quotientAndRemainder(dividingBy: day)
        return Timestamp(millisecondsSince1970: (days + (rest > 0 ? 1 : 0)) * day)
    }
}

extension PurchaseDelta {
    /// What the purchase gives access to by itself, and until when at least: nothing for a consumable, which is used up.
    fileprivate var heldProducts: [(productID: String, until: Timestamp)] {
        if let oneTime {
            guard oneTime.kind != .consumable, let productID = oneTime.productID else { return [] }
            return [(productID, oneTime.expiresAt ?? oneTime.revokedAt ?? .distantFuture)]
        }
        return phases.compactMap { phase in
            guard phase.value.status.access, let productID = phase.value.productID else { return nil }
            return (productID, phase.value.accessUntil)
        }
    }
}
