import Accounts
import AppStorePayloads
import Base
import Subscriptions
import Testing

/// What PRODUCT.md and the comment at `AccountState` promise, case by case.
struct AccountStateTests {
    @Test func `A change of tier of days that were added changes those, also where the customer has bought since`() {
        let line = line {
            $0.period(.purchase, "premium.monthly", 10, 40)
            $0.period(.purchase, "pro.monthly", 20, 50)
        }
        let given = [(15.0, StaffAct.Kind.extend(days: 8)), (16, .extend(days: 4))]
        #expect(line.state(acts(given)).on(51) == "active premium grant")
        let changed = line.state(acts(given + [(51, .changeTier(to: "free"))]))
        #expect(
            [50.5, 51, 59, 63].map { changed.on($0) } == [
                "active premium grant", "free free grant", "free free grant", "expired free grant",
            ])
        // What is bought then is new.
        let bought = bought(2, "pro.forever", .nonConsumable, at: 52)
        let beside = line.state(acts(given + [(51, .changeTier(to: "free"))]), with: [bought])
        #expect(beside.on(53) == "active pro apple")
    }

    @Test func `Another account that is signed later into something bought once has it from the signature on`() {
        let once = AccountLine(
            key: key(1),
            content: .oneTime(
                AccountLine.BoughtOnce(
                    kind: .nonConsumable, productID: "pro.forever", purchasedAt: day(10), revokedAt: day(40),
                    gaps: [OneTimePurchase.Gap(from: day(20), until: day(25))], signedAccount: bob,
                    earlierAccounts: [.init(ann, until: day(22)), .init(eve, until: day(30))])))
        let days = [9.0, 10, 20, 22, 25, 30, 40]
        let told = [ann, eve, bob].map { account in days.map { state([once], of: account).on($0) } }
        let (nothing, held, gone) = ("free free none", "active pro apple", "revoked free apple")
        #expect(told[0] == [nothing, held, gone, nothing, nothing, nothing, nothing])
        #expect(told[1] == [nothing, nothing, nothing, nothing, held, nothing, nothing])
        #expect(told[2] == [nothing, nothing, nothing, nothing, nothing, held, gone])
        #expect(once.owners == [ann, eve, bob])
        #expect([10, 21.9, 22, 30].map { once.owner(at: day($0)) } == [ann, ann, eve, bob])
    }

    @Test func `A purchase that comes back from another account has ended when it last gave this one something`() {
        func told(_ token: UniqueIdentifier?, _ owners: (Double, UniqueIdentifier)...) -> [String] {
            var story = line {
                $0.period(.purchase, 10, 40, token: token)
                $0.renewal(40, until: 40, isRetried: true, status: 3)
            }
            story.ownership = bindings(owners.map { ($0.0, .staff, $0.1) })
            let state = story.state()
            return [39, 44, 47, 52, 101].map { state.on($0) }
        }
        let (nothing, active, expired) = ("free free none", "active pro apple", "expired free apple")
        #expect(told(ann, (45, bob), (50, ann)) == [active, expired, nothing, expired, expired])
        #expect(told(nil, (20, ann), (45, bob), (50, ann)) == [active, expired, nothing, expired, expired])
        // What it gave without an owner, or to the other account, was not for this one.
        let never = Array(repeating: nothing, count: 5)
        #expect(told(nil, (45, bob), (50, ann)) == never)
        #expect(told(bob, (45, ann)) == never)
        var story = line { $0.period(.purchase, 10, 40) }
        story.ownership = bindings([(20, .staff, bob), (45, .staff, ann)])
        #expect(story.state().on(46) == expired && story.state().value(at: day(46)).expiresAt == day(20))
    }

    static let month: [(Double, SubscriptionStatus, String)] = [
        (10, .active, "pro.monthly"), (40, .expired, "pro.monthly"),
    ]
    static let premium: [(Double, SubscriptionStatus, String)] = [
        (20, .active, "premium.monthly"), (30, .expired, "premium.monthly"),
    ]

    @Test func `Who never had anything is free, at every instant`() {
        let state = state()
        #expect(state.phases.count == 1)
        #expect(state.phases[0].startsAt == .distantPast)
        #expect(state.on(-1_000_000) == "free free none")
        #expect(state.value(at: day(0)).expiresAt == nil)
    }

    @Test func `A subscription gives its product's tier while it is paid for, and has expired after`() {
        let state = state([subscription(Self.month)])
        #expect(state.on(9.9) == "free free none")
        #expect(state.on(10) == "active pro apple")
        #expect(state.value(at: day(10)).expiresAt == day(40))
        #expect(state.value(at: day(10)).willRenew)
        #expect(state.on(40) == "expired free apple")
        #expect(state.value(at: day(50)).expiresAt == day(40))
        #expect(state.value(at: day(50)).productID == "pro.monthly")
    }

    @Test func `Each status of a subscription has its status of the account`() {
        let state = state([
            subscription([
                (1, .trial, "pro.monthly"), (2, .active, "pro.monthly"), (3, .cancelled, "pro.monthly"),
                (4, .active, "pro.monthly"), (5, .gracePeriod, "pro.monthly"), (6, .billingRetry, "pro.monthly"),
                (7, .active, "pro.monthly"), (8, .revoked, "pro.monthly"),
            ])
        ])
        let told = [1, 2, 3, 5, 6, 7, 8].map { state.value(at: day($0)).status }
        #expect(told == [.trial, .active, .cancelled, .gracePeriod, .expired, .active, .revoked])
        #expect(state.value(at: day(1)).inTrial)
    }

    @Test func `A trial of Apple's that nobody paid for ends as one`() {
        #expect(
            state([subscription([(1, .trial, "pro.monthly"), (8, .expired, "pro.monthly")])]).on(9)
                == "trial_expired free apple")
        let paid = state([
            subscription([(1, .trial, "pro.monthly"), (8, .active, "pro.monthly"), (38, .expired, "pro.monthly")])
        ])
        #expect(paid.on(39) == "expired free apple")
    }

    @Test func `A trial whose charge failed ends as one, once Apple no longer retries`() {
        let failed = state([
            subscription([
                (1, .trial, "pro.monthly"), (8, .gracePeriod, "pro.monthly"), (24, .billingRetry, "pro.monthly"),
                (68, .expired, "pro.monthly"),
            ])
        ])
        #expect(failed.on(10) == "grace_period pro apple")
        #expect(failed.on(30) == "expired free apple")
        #expect(failed.on(70) == "trial_expired free apple")
        let line = subscription([
            (1, .trial, "pro.monthly"), (8, .gracePeriod, "pro.monthly"), (24, .expired, "pro.monthly"),
        ])
        #expect(state([line]).on(25) == "trial_expired free apple")
        #expect(line.hasEndedAsTrial(at: day(25), by: shop))
        let paid = subscription([
            (1, .trial, "pro.monthly"), (8, .active, "pro.monthly"), (38, .gracePeriod, "pro.monthly"),
            (54, .expired, "pro.monthly"),
        ])
        #expect(state([paid]).on(60) == "expired free apple")
        #expect(!paid.hasEndedAsTrial(at: day(60), by: shop))
    }

    @Test func `The lowest tier is what everybody has, so that a gift of it gives nothing`() {
        let trial = StartedTrial(tier: "free", startedAt: day(1), endsAt: day(8))
        #expect(state([], acts([(5, .grant(tier: "free", days: 30))]), trial: trial).phases.count == 1)
    }

    @Test func `What was changed to the lowest tier can be changed again, and is not extended`() {
        let state = state(
            [subscription(Self.month)],
            acts([(15, .changeTier(to: "free")), (17, .extend(days: 5)), (20, .changeTier(to: "premium"))]))
        #expect(state.on(16) == "free free apple")
        #expect(state.on(21) == "active premium apple")
        #expect(state.on(41) == "expired free apple")
    }

    @Test func `The highest tier speaks, and of one tier what lasts longest`() {
        let state = state([
            subscription(1, Self.month), subscription(2, Self.premium),
            bought(3, "pro.forever", .nonConsumable, at: 35),
        ])
        #expect(state.on(15) == "active pro apple")
        #expect(state.value(at: day(25)).tier == "premium")
        #expect(state.value(at: day(32)).purchase == key(1))
        #expect(state.value(at: day(36)).purchase == key(3))
        #expect(state.value(at: day(36)).expiresAt == nil)
        #expect(state.value(at: day(15)).expiresAt == day(40))
        #expect(state.value(at: day(25)).tierUntil == day(30) && state.value(at: day(25)).expiresAt == day(40))
    }

    @Test func `What was bought for good has no end but a refund`() {
        #expect(state([bought("pro.forever", .nonConsumable, at: 5)]).on(100_000) == "active pro apple")
        let refunded = state([bought("pro.forever", .nonConsumable, at: 5, revoked: 9)])
        #expect(refunded.on(8) == "active pro apple")
        #expect(refunded.on(9) == "revoked free apple")
    }

    @Test func `A term lasts as long as Apple says, and where Apple does not, as the catalog`() {
        #expect(state([bought("premium.pass", .nonRenewing, at: 5)]).on(14.9) == "active premium apple")
        #expect(state([bought("premium.pass", .nonRenewing, at: 5)]).on(15) == "expired free apple")
        #expect(state([bought("premium.pass", .nonRenewing, at: 5, until: 7)]).on(7) == "expired free apple")
        #expect(!state([bought("premium.pass", .nonRenewing, at: 5)]).value(at: day(6)).willRenew)
    }

    @Test func `A consumable and an unknown product give nothing`() {
        #expect(state([bought("premium.pass", .consumable, at: 5)]).phases.count == 1)
        #expect(state([subscription([(1, .active, "other"), (9, .expired, "other")])]).phases.count == 1)
    }

    @Test func `A grant gives its tier for its days, and an unknown tier nothing`() {
        let state = state([], acts([(5, .grant(tier: "premium", days: 3)), (6, .grant(tier: "gold", days: 30))]))
        #expect(state.on(5) == "active premium grant")
        #expect(state.value(at: day(5)).act == 1)
        #expect(state.on(8) == "expired free grant")
    }

    @Test func `The app's trial goes on beside a purchase and shows where it gives more`() {
        let trial = StartedTrial(tier: "premium", startedAt: day(8), endsAt: day(15))
        let state = state([subscription(Self.month)], trial: trial)
        #expect(state.on(9) == "trial premium trial")
        #expect(state.on(12) == "trial premium trial")
        #expect(state.on(15) == "active pro apple")
        #expect(self.trialAlone.on(20) == "trial_expired free trial")
    }

    private var trialAlone: AccountState {
        state(trial: StartedTrial(tier: "premium", startedAt: day(8), endsAt: day(15)))
    }

    @Test func `A block ends what is there, renewals included, and what is bought later counts again`() {
        let line = subscription(
            [
                (10, .active, "pro.monthly"), (40, .cancelled, "pro.monthly"), (70, .expired, "pro.monthly"),
                (80, .active, "pro.monthly"),
            ], purchases: [80])
        let state = state([line], acts([(20, .revoke)]))
        #expect(state.on(19) == "active pro apple")
        #expect(state.on(20) == "revoked free apple")
        #expect(state.value(at: day(20)).expiresAt == day(20))
        #expect(state.on(60) == "revoked free apple")
        #expect(state.on(75) == "revoked free apple")
        #expect(state.on(80) == "active pro apple")
    }

    @Test func `A block ends grants and the trial, and lifting it gives back what has not ended`() {
        let trial = StartedTrial(tier: "pro", startedAt: day(1), endsAt: day(30))
        let state = state(
            [], acts([(2, .grant(tier: "premium", days: 10)), (5, .revoke), (15, .unrevoke)]), trial: trial)
        #expect(state.on(4) == "active premium grant")
        #expect(state.on(6) == "revoked free grant")
        #expect(state.on(15) == "trial pro trial")
        #expect(state.on(31) == "trial_expired free trial")
    }

    @Test func `What is in billing retry is there, so that its recovery does not undo a block`() {
        let line = subscription([
            (1, .active, "pro.monthly"), (5, .billingRetry, "pro.monthly"), (9, .active, "pro.monthly"),
        ])
        #expect(state([line], acts([(6, .revoke)])).on(10) == "revoked free apple")
    }

    @Test func `A change of tier overrides, up and down, until what it changed ends`() {
        let lines = [subscription(1, Self.month), subscription(2, Self.premium)]
        let up = state([lines[0]], acts([(15, .changeTier(to: "premium"))]))
        #expect(up.on(20) == "active premium apple")
        #expect(up.on(41) == "expired free apple")
        // Both are there on day 25; the one that speaks is premium, until day 30.
        let down = state(lines, acts([(25, .changeTier(to: "free"))]))
        #expect(down.on(26) == "free free apple")
        #expect(down.value(at: day(26)).purchase == key(2))
        #expect(down.on(31) == "active pro apple")
        // What is bought later counts beside it.
        let later = state(lines, acts([(15, .changeTier(to: "free"))]))
        #expect(later.on(16) == "free free apple")
        #expect(later.on(25) == "active premium apple")
        #expect(later.on(35) == "free free apple")
    }

    @Test func `Days are added after the end of what gave access, one act after the other`() {
        let added = state([subscription(Self.month)], acts([(15, .extend(days: 5)), (20, .extend(days: 2))]))
        #expect(added.on(30) == "active pro apple")
        #expect(added.on(41) == "active pro grant")
        #expect(added.on(46.5) == "active pro grant")
        #expect(added.on(47) == "expired free grant")
        #expect(added.value(at: day(15)).expiresAt == day(45))
        #expect(added.value(at: day(20)).expiresAt == day(47))
        // A renewal moves them along.
        let renewed = state(
            [subscription([(10, .active, "pro.monthly"), (70, .expired, "pro.monthly")])],
            acts([(15, .extend(days: 5))]))
        #expect(renewed.on(45) == "active pro apple")
        #expect(renewed.on(74) == "active pro grant")
    }

    @Test func `What Apple took back, what has no end, and no access are not extended`() {
        let refunded = subscription([(10, .active, "pro.monthly"), (20, .revoked, "pro.monthly")])
        #expect(state([refunded], acts([(15, .extend(days: 5))])).on(21) == "revoked free apple")
        let forever = state([bought("pro.forever", .nonConsumable, at: 5)], acts([(15, .extend(days: 5))]))
        #expect(forever.phases.count == 2)
        #expect(state([], acts([(15, .extend(days: 5))])).phases.count == 1)
    }

    @Test func `A purchase is whose token was signed, unless staff moved it, and renewals do not undo that`() {
        let moved = [PurchaseBinding(id: 1, kind: .staff, account: bob, at: day(20))]
        let line = subscription(Self.month, bindings: moved)
        #expect(state([line]).on(19) == "active pro apple")
        #expect(state([line]).on(20) == "free free none")
        #expect(state([line], of: bob).on(19) == "free free none")
        #expect(state([line], of: bob).on(39) == "active pro apple")
        #expect(line.owners == [ann, bob])
    }

    @Test func `A purchase without a token is the first prover's from the proof on, and a transfer's from then on`() {
        let bindings = [
            PurchaseBinding(id: 1, kind: .proof, account: bob, at: day(12)),
            PurchaseBinding(id: 2, kind: .transfer, account: eve, at: day(30)),
        ]
        let line = subscription(Self.month, signed: nil, bindings: bindings.reversed())
        #expect(state([line], of: bob).on(11) == "free free none")
        #expect(state([line], of: bob).on(12) == "active pro apple")
        #expect(state([line], of: bob).on(30) == "free free none")
        #expect(state([line], of: eve).on(29) == "free free none")
        #expect(state([line], of: eve).on(30) == "active pro apple")
        // What Apple signed counts more than a proof.
        #expect(state([subscription(Self.month, bindings: bindings)]).on(35) == "active pro apple")
    }

    @Test func `What had ended when it was proven has ended for whoever proved it`() {
        let proven = [PurchaseBinding(id: 1, kind: .proof, account: bob, at: day(50))]
        let line = subscription(Self.month, signed: nil, bindings: proven)
        #expect(state([line], of: bob).on(49) == "free free none")
        #expect(state([line], of: bob).on(50) == "expired free apple")
        #expect(state([line], of: bob).value(at: day(50)).expiresAt == day(40))
        // Not for an account that has it from another account.
        let passed = proven + [PurchaseBinding(id: 2, kind: .transfer, account: eve, at: day(60))]
        #expect(
            state([subscription(Self.month, signed: nil, bindings: passed)], of: eve).on(61) == "free free none")
    }

    @Test func `An erasure frees a purchase, signed tokens too, for the next proof`() {
        let bindings = [
            PurchaseBinding(id: 1, kind: .erasure, account: ann, at: day(15)),
            PurchaseBinding(id: 2, kind: .proof, account: bob, at: day(25)),
        ]
        let line = subscription(Self.month, bindings: bindings)
        #expect(line.ownership.owner(signed: SignedAccounts(ann), at: day(14)) == ann)
        #expect(line.ownership.owner(signed: SignedAccounts(ann), at: day(20)) == nil)
        #expect(line.ownership.owner(signed: SignedAccounts(ann), at: day(26)) == bob)
        #expect(line.ownership.owner(signed: SignedAccounts(eve), at: day(26)) == eve)
    }

    @Test func `What is known from an instant on begins there and says the same`() {
        let facts = AccountFacts(account: ann, lines: [subscription(Self.month), subscription(2, Self.premium)])
        let (whole, part) = (AccountState(facts, catalog: shop), AccountState(facts, catalog: shop, from: day(22)))
        #expect(part.phases.first?.startsAt == day(22))
        for number in stride(from: 22.0, to: 60, by: 0.5) { #expect(part.on(number) == whole.on(number)) }
    }
}
