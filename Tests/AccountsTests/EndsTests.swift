import Accounts
import AppStorePayloads
import Base
import Subscriptions
import Testing

/// When access ends as a whole, when the tier does, and when the running period does.
struct EndsTests {
    private func ends(_ state: AccountState, _ number: Double) -> [Timestamp?] {
        let phase = state.value(at: day(number))
        return [phase.expiresAt, phase.tierUntil, phase.periodEndsAt]
    }

    private let pro = subscription([(10, .active, "pro.monthly"), (40, .expired, "pro.monthly")])

    @Test func `A subscription alone ends with its period`() {
        #expect(ends(state([pro]), 15) == [day(40), day(40), day(40)])
        #expect(ends(state([pro]), 45) == [day(40), nil, nil])
    }

    @Test func `A grant over a renewing subscription does not end soon`() {
        let state = state([pro], acts([(15, .grant(tier: "premium", days: 10))]))
        #expect(ends(state, 16) == [day(40), day(25), day(25)])
        let phase = state.value(at: day(16))
        #expect(phase.source == .grant && phase.willRenew && phase.goesOn)
        let longer = self.state([pro], acts([(15, .grant(tier: "premium", days: 60))]))
        #expect(ends(longer, 16) == [day(75), day(75), day(75)])
        #expect(longer.value(at: day(16)).goesOn)
        // By what is known then nothing renews any more.
        #expect(!longer.value(at: day(45)).goesOn)
    }

    private func state(_ lines: [AccountLine], _ acts: [StaffAct] = []) -> AccountState {
        AccountState(AccountFacts(account: ann, lines: lines, acts: acts), catalog: shop)
    }

    @Test func `Who owns a tier for life has no end of access although a higher tier ends`() {
        let premium = subscription(2, [(10, .cancelled, "premium.monthly"), (40, .expired, "premium.monthly")])
        let state = state([bought(1, "pro.forever", .nonConsumable, at: 5), premium])
        #expect(ends(state, 15) == [nil, day(40), day(40)])
        #expect(ends(state, 41) == [nil, nil, nil])
    }

    @Test func `Days that staff adds move the end from the act on, and follow a renewal`() {
        let renewed = line {
            $0.period(.purchase, 10, 40)
            $0.period(.renewal, 40, 70)
        }
        let state = renewed.state(acts([(15, .extend(days: 5)), (20, .extend(days: 2))]))
        #expect([12, 16, 21].map { ends(state, $0)[0] } == [day(40), day(45), day(47)])
        #expect(ends(state, 21)[1...] == [day(47), day(40)])
        #expect(ends(state, 50)[0] == day(77))
        #expect(state.on(71) == "active pro grant")
        // A refund that comes later takes nothing from what was known.
        let refunded = line { $0.period(.purchase, 10, 40, revoked: 30) }
        #expect(ends(refunded.state(acts([(15, .extend(days: 5))])), 16)[0] == day(45))
    }

    @Test func `What Apple has charged for ahead counts once it has`() {
        let downgraded = line {
            $0.period(.purchase, "premium.monthly", 10, 40)
            $0.period(.renewal, "pro.monthly", 40, 70, signed: 39.5)
        }
        let state = downgraded.state()
        #expect(ends(state, 39) == [day(40), day(40), day(40)])
        #expect(ends(state, 39.6) == [day(70), day(40), day(40)])
    }

    @Test func `What Apple had charged for counted until another plan replaced it`() {
        let replaced = line {
            $0.period(.purchase, "premium.monthly", 10, 40)
            $0.period(.renewal, "pro.monthly", 40, 70, signed: 39.5)
            $0.period(.purchase, "premium.monthly", 39.75, 69.75)
        }
        let state = replaced.state(acts([(15, .extend(days: 2))]))
        #expect(ends(state, 39.25) == [day(42), day(42), day(40)])
        #expect(ends(state, 39.5) == [day(72), day(40), day(40)])
        #expect(ends(state, 39.75) == [day(71.75), day(71.75), day(69.75)])
        // By a change of tier of what was there before the plan was chosen nothing of it was changed.
        let changed = replaced.state(acts([(20, .changeTier(to: "premium"))]))
        #expect(ends(changed, 39.6) == [day(70), day(40), day(40)])
        let charged = replaced.state(acts([(39.55, .changeTier(to: "premium"))]))
        #expect(ends(charged, 39.6) == [day(70), day(70), day(40)])
    }

    @Test func `While a renewal is waited for, access ends where the waiting does, whatever word comes in between`() {
        func waiting(_ tell: (inout LineStory) -> Void) -> AccountState {
            var story = LineStory()
            story.policy = StatusPolicy(renewalLeewaySeconds: 86_400)
            story.period(.purchase, 10, 40)
            tell(&story)
            return story.state(acts([(15, .extend(days: 3))]))
        }
        let states = [
            waiting { _ in }, waiting { $0.renewal(40.5, until: 40, isRetried: true, status: 3) },
            waiting { $0.period(.purchase, 40.5, 70.5) },
        ]
        for state in states {
            #expect(ends(state, 39) == [day(43), day(43), day(40)])
            #expect(ends(state, 40.25) == [day(44), day(44), day(40)])
        }
        #expect(ends(states[1], 40.75) == [day(43.5), day(43.5), day(43.5)])
        #expect(ends(states[2], 40.75) == [day(73.5), day(73.5), day(70.5)])
    }

    @Test func `A change of tier lasts as long as its source, and what it kept back counts again`() {
        let premium = subscription(2, [(10, .active, "premium.monthly"), (30, .expired, "premium.monthly")])
        let state = state([pro, premium], acts([(15, .changeTier(to: "premium"))]))
        #expect(ends(state, 16) == [day(40), day(30), day(30)])
        let free = self.state([pro, premium], acts([(15, .changeTier(to: "free"))]))
        #expect(free.on(16) == "free free apple")
        #expect(free.value(at: day(16)).expiresAt == nil && !free.value(at: day(16)).goesOn)
        #expect(free.value(at: day(16)).act == 1)
        #expect(free.on(31) == "active pro apple")
    }

    @Test func `Grace is part of the end, and does not go on by itself`() {
        let grace = line {
            $0.period(.purchase, 10, 40)
            $0.renewal(40, until: 40, isRetried: true, grace: 56, status: 4)
        }
        let state = grace.state()
        #expect(state.on(41) == "grace_period pro apple")
        #expect(ends(state, 41) == [day(56), day(56), day(40)])
        #expect(state.value(at: day(41)).willRenew && !state.value(at: day(41)).goesOn)
    }

    @Test func `What Apple reported alone is known to last as long as what it came with, whatever ended it later`() {
        // One of several parts of the period was refunded, and the others were never heard of.
        let refunded = line {
            $0.period(.purchase, 10, 40, revoked: 15)
            $0.renewal(15, until: 40, status: 1)
            $0.renewal(20, until: 40, renews: false, status: 5)
        }
        let state = refunded.state()
        #expect(state.on(16) == "active pro apple" && state.on(20) == "revoked free apple")
        #expect(ends(state, 16)[0] == day(40))
    }
}
