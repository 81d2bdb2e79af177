import Accounts
import Base
import Postgres
import PurchaseStore
import Subscriptions

/// Subscriptions as this transaction has derived and written them, so that accounts do not read them back.
struct DerivedSubscriptions: Sendable {
    /// A row of `subscriptions`.
    struct Row: Sendable {
        /// The phases at hand; empty where the purchase is no subscription.
        var phases: [LinePhase] = []
        /// The ends of its stretches.
        var stretchEnds: [StretchEnd] = []
        /// How many earlier ones stand in `subscription_history`, and are not at hand.
        var earlierPhases = 0
        /// Where the phases in `subscriptions` begin, if there are earlier ones.
        var keptFrom: Timestamp?
    }

    private let rows: [PurchaseKey: Row]
    /// The changed purchases, and the earliest instant of each at which anything may have changed.
    private let since: [PurchaseKey: Timestamp]

    /// - Parameters:
    ///   - deltas: what was derived.
    ///   - purchases: all that may have changed.
    ///   - unchanged: those of them that have not.
    init(_ deltas: [PurchaseDelta] = [], of purchases: [PurchaseKey] = [], unchanged: Set<PurchaseKey> = []) {
        rows = Dictionary(
            deltas.map { delta in
                (
                    delta.key,
                    Row(
                        phases: delta.phases.map { LinePhase(stored: $0) },
                        stretchEnds: delta.subscription?.stretchEnds ?? [],
                        earlierPhases: delta.earlierPhases - delta.movedPhases,
                        keptFrom: delta.earlierPhases > 0
                            ? delta.currentPhases.first.map { Timestamp(PostgresTimestamp($0.startsAt)) } : nil)
                )
            }, uniquingKeysWith: { _, last in last })
        let dated = Dictionary(deltas.map { ($0.key, $0.since) }, uniquingKeysWith: min)
        since = Dictionary(
            purchases.map { ($0, dated[$0] ?? (unchanged.contains($0) ? .distantFuture : .distantPast)) },
            uniquingKeysWith: min)
    }

    /// The earliest instant at which an account may have changed.
    /// - Parameter purchases: all that may be its own.
    func affected(_ purchases: some Sequence<PurchaseKey>) -> Timestamp {
        // Something else has changed it, or took a purchase from it.
        purchases.compactMap { since[$0] }.min() ?? .distantPast
    }

    subscript(_ purchase: PurchaseKey) -> Row? { rows[purchase] }

    /// The purchases, in no order.
    var keys: [PurchaseKey] { Array(rows.keys) }

    /// The accounts that Apple signed into the phases at hand of purchases, each once.
    func signedAccounts(of purchases: [PurchaseKey]) -> [(account: UniqueIdentifier, purchase: PurchaseKey)] {
        purchases.flatMap { purchase in
            Set((rows[purchase]?.phases ?? []).compactMap { $0.signedAccount ?? $0.upcomingAccount }).map {
                ($0, purchase)
            }
        }
    }
}

extension LinePhase {
    /// As it would be read back: instants beyond PostgreSQL's calendar are its first or last one.
    init(stored phase: Phase) {
        self.init(phase)
        startsAt = Timestamp(PostgresTimestamp(startsAt))
        accessUntil = accessUntil.map { Timestamp(PostgresTimestamp($0)) }
        periodEndsAt = periodEndsAt.map { Timestamp(PostgresTimestamp($0)) }
    }
}
