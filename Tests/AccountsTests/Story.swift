import Accounts
import AppStorePayloads
import Base
import Subscriptions

/// Days of a calendar that begins long ago, as instants.
func day(_ day: Double) -> Timestamp { Timestamp(millisecondsSince1970: Int64(day * 86_400_000)) }

/// Accounts to speak of.
let ann = UniqueIdentifier(high: 1, low: 1)
let bob = UniqueIdentifier(high: 2, low: 2)
let eve = UniqueIdentifier(high: 3, low: 3)

/// Three tiers, and a product of each kind.
let shop = Catalog(
    tiers: [Catalog.Tier(id: "free"), Catalog.Tier(id: "pro"), Catalog.Tier(id: "premium")],
    products: [
        product("pro.monthly", "pro", .month), product("premium.monthly", "premium", .month),
        product("pro.forever", "pro", .lifetime), product("premium.pass", "premium", .term, lasts: 10),
    ],
    trial: Catalog.Trial(tier: "premium", days: 7))

private func product(_ id: String, _ tier: String, _ period: Catalog.Period, lasts: Int? = nil) -> Catalog.Product {
    Catalog.Product(id: id, productID: id, bundleID: "app", tier: tier, period: period, lasts: lasts)
}

func key(_ number: Int) -> PurchaseKey {
    PurchaseKey(environment: "Production", bundleID: "app", originalTransactionID: "\(number)")
}

/// A subscription of Ann's out of (day, status, product): each period ends where the next phase begins, the last one with `until`.
func subscription(
    _ number: Int, _ phases: [(Double, SubscriptionStatus, String)], until: Double? = nil,
    signed: UniqueIdentifier? = ann, bindings: [PurchaseBinding] = [], purchases: [Double] = []
) -> AccountLine {
    AccountLine(
        key: key(number),
        content: .subscription(
            phases.enumerated().map { place, phase in
                let next = place + 1 < phases.count ? phases[place + 1].0 : until
                return LinePhase(
                    startsAt: day(phase.0), status: phase.1, productID: phase.2, accessUntil: next.map(day),
                    inTrial: phase.1 == .trial, willRenew: phase.1 == .active || phase.1 == .trial,
                    signedAccount: signed, boughtAt: purchases.last { $0 <= phase.0 }.map(day))
            }),
        ownership: PurchaseOwnership(bindings))
}

/// The first of them.
func subscription(
    _ phases: [(Double, SubscriptionStatus, String)], signed: UniqueIdentifier? = ann, bindings: [PurchaseBinding] = [],
    purchases: [Double] = []
) -> AccountLine {
    subscription(1, phases, signed: signed, bindings: bindings, purchases: purchases)
}

/// The first thing that Ann bought once.
func bought(
    _ product: String, _ kind: OneTimePurchase.Kind, at: Double, until: Double? = nil, revoked: Double? = nil
) -> AccountLine {
    bought(1, product, kind, at: at, until: until, revoked: revoked)
}

/// Something that Ann bought once.
func bought(
    _ number: Int, _ product: String, _ kind: OneTimePurchase.Kind, at: Double, until: Double? = nil,
    revoked: Double? = nil
) -> AccountLine {
    AccountLine(
        key: key(number),
        content: .oneTime(
            AccountLine.BoughtOnce(
                kind: kind, productID: product, purchasedAt: day(at), expiresAt: until.map(day),
                revokedAt: revoked.map(day), signedAccount: ann)))
}

/// Acts in order, each at its day.
func acts(_ acts: [(Double, StaffAct.Kind)]) -> [StaffAct] {
    acts.enumerated().map { StaffAct(id: Int64($0 + 1), at: day($1.0), kind: $1.1) }
}

/// Ann's state.
func state(
    _ lines: [AccountLine] = [], _ acts: [StaffAct] = [], trial: StartedTrial? = nil,
    of account: UniqueIdentifier = ann,
    by catalog: Catalog = shop
) -> AccountState {
    AccountState(AccountFacts(account: account, lines: lines, acts: acts, trial: trial), catalog: catalog)
}

extension AccountState {
    /// What it is on a day, in a few words: `active pro apple`.
    func on(_ number: Double) -> String {
        let phase = value(at: day(number))
        return "\(phase.status.rawValue) \(phase.tier) \(phase.source.rawValue)"
    }
}
