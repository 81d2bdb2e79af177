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
        /// How many stand in `subscription_history`.
        var earlierPhases = 0
    }

    private let rows: [PurchaseKey: Row]

    init(_ deltas: [PurchaseDelta] = []) {
        rows = Dictionary(
            deltas.map { delta in
                (
                    delta.key,
                    Row(
                        phases: delta.currentPhases.map { LinePhase(stored: $0) },
                        stretchEnds: delta.subscription?.stretchEnds ?? [], earlierPhases: delta.earlierPhases)
                )
            }, uniquingKeysWith: { _, last in last })
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
    fileprivate init(stored phase: Phase) {
        self.init(phase)
        startsAt = Timestamp(PostgresTimestamp(startsAt))
        accessUntil = accessUntil.map { Timestamp(PostgresTimestamp($0)) }
        periodEndsAt = periodEndsAt.map { Timestamp(PostgresTimestamp($0)) }
    }
}
