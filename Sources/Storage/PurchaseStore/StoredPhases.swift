import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions

/// How a subscription's phases are spread over rows: the last four to seven in `subscriptions`, the earlier ones in fours
/// in `subscription_history`.
///
/// Where they are cut depends on their number alone, so that the order of arrival does not change the rows.
enum StoredPhases {
    /// Phases of one row of `subscription_history`, and the fewest that stay in `subscriptions`.
    static let rowSize = 4

    /// How many of `count` phases go to `subscription_history`.
    static func earlier(of count: Int) -> Int { max(0, count / rowSize - 1) * rowSize }

    /// A row of `subscription_history`.
    struct HistoryRow: Sendable {
        let key: PurchaseKey
        let phases: ArraySlice<Phase>
    }

    /// The rows that subscriptions add to `subscription_history`.
    static func historyRows(_ subscriptions: [LedgerColumns.Subscription]) -> [HistoryRow] {
        subscriptions.flatMap { subscription in
            let moved = subscription.phases.history
            return stride(from: moved.startIndex, to: moved.endIndex, by: rowSize).map {
                HistoryRow(key: subscription.key, phases: moved[$0..<min($0 + rowSize, moved.endIndex)])
            }
        }
    }
}

/// The columns that hold phases, in `subscriptions` and in `subscription_history` alike.
enum PhaseColumns {
    static let all: [LedgerColumn<Phase>] = [
        LedgerColumn("phase_starts") { PostgresTimestamp($0.startsAt) },
        LedgerColumn("phase_status") { $0.value.status.rawValue },
        LedgerColumn("phase_basis") { $0.value.basis.rawValue },
        LedgerColumn("phase_product") { $0.value.productID },
        LedgerColumn("phase_transaction") { $0.value.transactionID },
        LedgerColumn("phase_expires") { PostgresTimestamp($0.value.expiresAt) },
        LedgerColumn("phase_period_ends") { PostgresTimestamp($0.value.periodEndsAt) },
        LedgerColumn("phase_grace_ends") { $0.value.graceEndsAt.map(PostgresTimestamp.init) },
        LedgerColumn("phase_trial") { $0.value.inTrial },
        LedgerColumn("phase_will_renew") { $0.value.willRenew },
        LedgerColumn("phase_renewal_product") { $0.value.renewalProductID },
        LedgerColumn("phase_price_pending") { $0.value.priceIncreasePending },
        LedgerColumn("phase_intent") { $0.value.expirationIntent.map { Int16(clamping: $0) } },
        LedgerColumn("phase_account") { $0.value.appAccountToken.map(UUID.init) },
        LedgerColumn(origin) { $0.origin.stored },
    ]

    /// Mostly there is nothing in it, and then the row has none.
    static let origin = "phase_origin"
}

extension PostgresQuery {
    static func subscriptions(_ rows: [LedgerColumns.Subscription]) -> PostgresQuery {
        .rows(rows, LedgerColumns.subscription) { $0.phases.current }
    }

    static func history(_ rows: [StoredPhases.HistoryRow]) -> PostgresQuery {
        .rows(rows, LedgerColumns.history) { $0.phases }
    }

    /// Rows that each have phases of their own. Arrays of arrays cannot be passed, so all phases are passed in one array per column, with the
    /// number of their row, and gathered there.
    private static func rows<Row>(
        _ rows: [Row], _ columns: [LedgerColumn<Row>], phases: (Row) -> ArraySlice<Phase>
    ) -> PostgresQuery {
        let numbered = rows.enumerated().flatMap { number, row in phases(row).map { (Int32(clamping: number + 1), $0) }
        }
        let all = numbered.map(\.1)
        var statement = StringInterpolation(literalCapacity: 1024, interpolationCount: columns.count + 16)
        let names = columns.map(\.name).joined(separator: ", ")
        let phaseNames = PhaseColumns.all.map(\.name)
        statement.appendLiteral("select ")
        statement.appendInterpolation(unescaped: "\(names), \(phaseNames.map { "p.\($0)" }.joined(separator: ", "))")
        statement.appendLiteral(" from unnest(")
        for (place, column) in columns.enumerated() {
            if place > 0 { statement.appendLiteral(", ") }
            column.bind(rows, &statement)
        }
        statement.appendLiteral(") with ordinality as r (")
        statement.appendInterpolation(unescaped: "\(names), n) join (select n")
        for name in phaseNames {
            let gathered = "array_agg(\(name))"
            statement.appendInterpolation(
                unescaped: name == PhaseColumns.origin
                    ? ", case when count(\(name)) > 0 then \(gathered) end as \(name)" : ", \(gathered) as \(name)")
        }
        // Sorted once for all columns; array_agg takes the order in which rows come.
        statement.appendLiteral(" from (select * from unnest(")
        statement.appendInterpolation(numbered.map(\.0))
        for column in PhaseColumns.all {
            statement.appendLiteral(", ")
            column.bind(all, &statement)
        }
        statement.appendLiteral(") with ordinality as phase (n, ")
        statement.appendInterpolation(unescaped: phaseNames.joined(separator: ", "))
        statement.appendLiteral(", place) order by n, place) sorted group by n) p using (n)")
        return PostgresQuery(stringInterpolation: statement)
    }
}
