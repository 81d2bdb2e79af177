import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions

/// A row of `storehook.account_status` without its version: one account's derived status in one environment,
/// by one catalog.
struct StoredAccount: Sendable, Hashable {
    let token: UniqueIdentifier
    let environment: String
    let catalog: Int64
    /// Nil where the first phase has no beginning.
    let knownFrom: Timestamp?
    let phases: [AccountPhase]
    /// What it has of its purchases in the time of these phases.
    let holdings: [AccountHolding]

    /// How few phases are kept of an account with very many. Where they are cut depends on their number alone, so that
    /// the order of arrival does not change the row. There are never that many future phases.
    static let fewest = 32

    /// - Parameter from: before it not all is known.
    init(
        token: UniqueIdentifier, environment: String, catalog: Int64, _ state: AccountState
    ) {
        self.token = token
        self.environment = environment
        self.catalog = catalog
        let over = max(0, state.phases.count / Self.fewest - 1) * Self.fewest
        phases = Array(state.phases[over...])
        knownFrom = phases.first.flatMap { $0.startsAt == .distantPast ? nil : $0.startsAt }
        let kept = over > 0 ? phases.first.map { state.from($0.startsAt) } : nil
        holdings = (kept ?? state).holdings ?? []
    }

    /// The columns that hold phases. They are read by their places: a new one comes last.
    static let phaseColumns = [
        "phase_starts", "phase_status", "phase_tier", "phase_source", "phase_product", "phase_bundle", "phase_purchase",
        "phase_act", "phase_expires", "phase_will_renew", "phase_trial", "phase_source_ends", "phase_tier_until",
        "phase_period_ends", "phase_goes_on",
    ]

    /// Those that a row mostly has none of.
    fileprivate static let seldomColumns: Set = [
        "phase_source_ends", "phase_tier_until", "phase_period_ends", "phase_goes_on",
    ]
    /// The columns that hold holdings.
    static let holdingColumns = [
        "holding_starts", "holding_ends", "holding_product", "holding_bundle", "holding_purchase",
    ]
    /// All columns that hold what was derived.
    static let columns = phaseColumns + holdingColumns
}

extension PostgresQuery {
    /// `derived`: the rows, as the first parts of a WITH. Arrays of arrays cannot be passed, so all phases are passed
    /// in one array per column, with the number of their row, and gathered there.
    static func derived(_ rows: [StoredAccount]) -> PostgresQuery {
        /// For each of their parts, the number of its row.
        func numbers(_ count: (StoredAccount) -> Int) -> [Int32] {
            rows.indices.flatMap { repeatElement(Int32($0 + 1), count: count(rows[$0])) }
        }
        let all = rows.flatMap(\.phases)
        let ends = all.map(\.differingEnds)
        let held = rows.flatMap(\.holdings)
        return """
            phase as (
                select n, \(unescaped: gatheredPhases)
                  from (select * from unnest(
                            \(numbers { $0.phases.count }), \(all.map { PostgresTimestamp($0.startsAt) }),
                            \(all.map(\.status.rawValue)), \(all.map(\.tier)), \(all.map(\.source.rawValue)),
                            \(all.map(\.productID)), \(all.map { $0.purchase?.bundleID }),
                            \(all.map { $0.purchase?.originalTransactionID }), \(all.map(\.act)),
                            \(all.map { $0.expiresAt.map { PostgresTimestamp($0) } }), \(all.map(\.willRenew)),
                            \(all.map(\.inTrial)), \(ends.map(\.source)), \(ends.map(\.tier)), \(ends.map(\.period)),
                            \(all.map { $0.goesOn == $0.goesOnByDefault ? nil : $0.goesOn }))
                            with ordinality as phase (n, \(unescaped: phaseColumns), place)
                         order by n, place) sorted
                 group by n
            ), holding as (
                select n, \(unescaped: gatheredHoldings)
                  from (select * from unnest(
                            \(numbers { $0.holdings.count }), \(held.map { PostgresTimestamp($0.startsAt) }),
                            \(held.map { $0.endsAt.map { PostgresTimestamp($0) } }), \(held.map(\.productID)),
                            \(held.map(\.purchase.bundleID)), \(held.map(\.purchase.originalTransactionID)))
                            with ordinality as holding (n, \(unescaped: holdingColumns), place)
                         order by n, place) sorted
                 group by n
            ), derived as (
                select account.token, account.environment, account.catalog, account.known_from, \(unescaped: phaseColumns),
                       \(unescaped: allHoldings)
                  from unnest(
                       \(rows.map { UUID($0.token) }), \(rows.map(\.environment)), \(rows.map(\.catalog)),
                       \(rows.map { $0.knownFrom.map { PostgresTimestamp($0) } }))
                       with ordinality as account (token, environment, catalog, known_from, n)
                  join phase using (n)
                  left join holding using (n)
            )
            """
    }

    private static let phaseColumns = StoredAccount.phaseColumns.joined(separator: ", ")
    private static let gatheredPhases = StoredAccount.phaseColumns.map { column in
        let all = "array_agg(\(column))"
        let isSeldom = StoredAccount.seldomColumns.contains(column)
        return (isSeldom ? "case when count(\(column)) > 0 then \(all) end" : all) + " as \(column)"
    }.joined(separator: ", ")
    private static let holdingColumns = StoredAccount.holdingColumns.joined(separator: ", ")
    private static let gatheredHoldings = StoredAccount.holdingColumns.map { "array_agg(\($0)) as \($0)" }
        .joined(separator: ", ")
    // An empty array says that there are none; null, that it is not known.
    private static let allHoldings = StoredAccount.holdingColumns.map { column in
        let isText = !["holding_starts", "holding_ends"].contains(column)
        return "coalesce(\(column), '{}'::\(isText ? "text" : "timestamptz")[]) as \(column)"
    }.joined(separator: ", ")
}

extension AccountState {
    /// Reads ``StoredAccount/columns``, which stand side by side; nil where the row has none.
    /// - Parameter first: the place of the first of them. Twenty searches by name would cost more than reading them.
    init?(_ row: PostgresRow, in environment: String, from first: Int) throws {
        guard let starts = try row.decode(first, as: [PostgresTimestamp]?.self) else { return nil }
        let statuses = try row.decode(first + 1, as: [String].self)
        let tiers = try row.decode(first + 2, as: [String].self)
        let sources = try row.decode(first + 3, as: [String].self)
        let products = try row.decode(first + 4, as: [String?].self)
        let bundles = try row.decode(first + 5, as: [String?].self)
        let purchases = try row.decode(first + 6, as: [String?].self)
        let acts = try row.decode(first + 7, as: [Int64?].self)
        let ends = try row.decode(first + 8, as: [PostgresTimestamp?].self)
        let renews = try row.decode(first + 9, as: [Bool].self)
        let trials = try row.decode(first + 10, as: [Bool].self)
        /// Of a column that a row mostly has none of, or that an older program has left as it was.
        func seldom<Value: PostgresScalar & SendableMetatype>(_ place: Int, _: Value.Type) throws -> [Value?]? {
            let values = try row.decode(first + place, as: [Value?]?.self)
            return values?.count == starts.count ? values : nil
        }
        let sourceEnds = try seldom(11, PostgresTimestamp.self)
        let tierEnds = try seldom(12, PostgresTimestamp.self)
        let periodEnds = try seldom(13, PostgresTimestamp.self)
        let goesOn = try seldom(14, Bool.self)
        self.init(
            try starts.indices.map { place in
                guard let status = AccountStatus(rawValue: statuses[place]),
                    let source = AccountSource(rawValue: sources[place])
                else {
                    throw PostgresError(
                        .decoding, "account_status: a status or source that this release does not know",
                        operation: "decode")
                }
                var purchase: PurchaseKey?
                if let bundle = bundles[place], let id = purchases[place] {
                    purchase = PurchaseKey(environment: environment, bundleID: bundle, originalTransactionID: id)
                }
                let end = ends[place].map { Timestamp($0) }
                let sourceEnd = sourceEnds?[place].map { Timestamp($0) } ?? end
                return AccountPhase(
                    startsAt: Timestamp(phaseStart: starts[place]), status: status, tier: tiers[place], source: source,
                    productID: products[place], purchase: purchase, act: acts[place], expiresAt: end,
                    willRenew: renews[place], inTrial: trials[place],
                    ends: AccountPhase.Ends(
                        source: sourceEnd, tier: tierEnds?[place].map { Timestamp($0) } ?? end,
                        period: periodEnds?[place].map { Timestamp($0) } ?? sourceEnd), goesOn: goesOn?[place])
            },
            holdings: try AccountHolding.all(
                of: row, in: environment, from: first + StoredAccount.phaseColumns.count))
    }
}

extension AccountHolding {
    /// Reads the columns of holdings; nil where the row has none, because an earlier release wrote it.
    fileprivate static func all(
        of row: PostgresRow, in environment: String, from first: Int
    ) throws -> [AccountHolding]? {
        guard let starts = try row.decode(first, as: [PostgresTimestamp]?.self) else { return nil }
        let ends = try row.decode(first + 1, as: [PostgresTimestamp?].self)
        let products = try row.decode(first + 2, as: [String].self)
        let bundles = try row.decode(first + 3, as: [String].self)
        let purchases = try row.decode(first + 4, as: [String].self)
        return starts.indices.map { place in
            AccountHolding(
                purchase: PurchaseKey(
                    environment: environment, bundleID: bundles[place], originalTransactionID: purchases[place]),
                productID: products[place], startsAt: Timestamp(phaseStart: starts[place]),
                endsAt: ends[place].map { Timestamp($0) })
        }
    }
}

extension Timestamp {
    /// The beginning of a phase: a phase without a beginning is stored with the earliest instant.
    init(phaseStart: PostgresTimestamp) {
        self = phaseStart == .earliest ? .distantPast : Timestamp(phaseStart)
    }
}

extension AccountPhase {
    /// The ends as they are stored: null where they are the usual ones.
    fileprivate var differingEnds: (source: PostgresTimestamp?, tier: PostgresTimestamp?, period: PostgresTimestamp?) {
        guard let ends else { return (nil, nil, nil) }
        func differing(_ end: Timestamp?, _ usual: Timestamp?) -> PostgresTimestamp? {
            end == usual ? nil : end.map { PostgresTimestamp($0) }
        }
        return (
            differing(ends.source, expiresAt), differing(ends.tier, expiresAt), differing(ends.period, ends.source)
        )
    }
}
