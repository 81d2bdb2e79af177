import Accounts
import AppStorePayloads
import Base
import Subscriptions
import Testing

/// What an act of staff's ends on a line, and what the customer has bought since.
struct SourceTests {
    private let block = acts([(20, .revoke)])

    @Test func `A block ends renewals and recoveries of what was there`() {
        let renewed = line {
            $0.period(.purchase, 10, 40)
            $0.period(.renewal, 40, 70)
        }
        #expect(renewed.state(block).on(50) == "revoked free apple")
        let recovered = line {
            $0.period(.purchase, 10, 40)
            $0.renewal(40, until: 40, isRetried: true, status: 3)
            $0.period(.renewal, 45, 75)
        }
        #expect(recovered.state(block).on(50) == "revoked free apple")
        // Also where nothing was heard of the retries.
        let unheard = line {
            $0.period(.purchase, 10, 40)
            $0.period(.renewal, 45, 75)
        }
        #expect(unheard.state(block).on(50) == "revoked free apple")
        #expect(
            unheard.state(acts([(42, .revoke)]), with: [bought(2, "pro.forever", .nonConsumable, at: 30)]).on(50)
                == "revoked free apple")
    }

    @Test func `An upgrade after a block is the customer's, and all that follows on the line`() {
        let upgraded = line {
            $0.period(.purchase, 10, 40)
            $0.period(.purchase, "premium.monthly", 25, 55)
            $0.period(.renewal, "premium.monthly", 55, 85)
            // Back to what was blocked.
            $0.period(.renewal, "pro.monthly", 85, 115)
        }
        let state = upgraded.state(block)
        #expect(state.on(24) == "revoked free apple")
        #expect(state.on(25) == "active premium apple")
        #expect(state.on(60) == "active premium apple")
        #expect(state.on(90) == "active pro apple")
    }

    @Test func `A purchase in billing retry or after the end counts, under the same line`() {
        let retried = line {
            $0.period(.purchase, 10, 40)
            $0.renewal(40, until: 40, isRetried: true, status: 3)
            $0.period(.purchase, 45, 75)
        }
        #expect(retried.state(block).on(46) == "active pro apple")
        let again = line {
            $0.period(.purchase, 10, 40)
            $0.period(.purchase, 90, 120)
        }
        #expect(again.state(block).on(91) == "active pro apple")
        // Where Apple does not say what it was, a day in between says it.
        let unsaid = line {
            $0.period(.unknown, 10, 40)
            $0.period(.unknown, 40.5, 70)
            $0.period(.unknown, 90, 120)
        }
        #expect(unsaid.state(block).on(50) == "revoked free apple")
        #expect(unsaid.state(block).on(91) == "active pro apple")
    }

    @Test func `Something bought for good that is bought again after a block counts, and a restored copy does not`() {
        func again(isBought: Bool) -> AccountLine {
            AccountLine(
                key: key(1),
                content: .oneTime(
                    AccountLine.BoughtOnce(
                        kind: .nonConsumable, productID: "pro.forever", purchasedAt: day(10), revokedAt: day(50),
                        gaps: [.init(from: day(15), until: day(30), isBoughtAgain: isBought)], signedAccount: ann)))
        }
        let given = acts([(20, .revoke)])
        #expect(state([again(isBought: true)], given).on(29) == "revoked free apple")
        #expect(state([again(isBought: true)], given).on(30) == "active pro apple")
        #expect(state([again(isBought: true)], given).on(50) == "revoked free apple")
        // The same where it was held at the block, and refunded after it.
        #expect(state([again(isBought: true)], acts([(12, .revoke)])).on(31) == "active pro apple")
        #expect(state([again(isBought: true)], acts([(31, .revoke)])).on(32) == "revoked free apple")
        // What Apple gave back is what was blocked.
        #expect(state([again(isBought: false)], given).on(31) == "revoked free apple")
        let changed = acts([(12, .changeTier(to: "premium"))])
        #expect(state([again(isBought: true)], changed).on(14) == "active premium apple")
        #expect(state([again(isBought: true)], changed).on(31) == "active pro apple")
    }

    @Test func `What was nobody's at a block, and ended before the account proved it, was blocked or had ended`() {
        func proven(_ at: Double, blocked: Double) -> AccountState {
            var story = line { $0.period(.purchase, 10, 40, token: nil) }
            story.ownership = bindings([(at, .proof, ann)])
            return story.state(acts([(blocked, .revoke)]))
        }
        #expect(proven(50, blocked: 20).on(51) == "revoked free apple")
        #expect(proven(30, blocked: 20).on(31) == "revoked free apple")
        #expect(proven(50, blocked: 45).on(51) == "expired free apple")
    }

    @Test func `A purchase that is heard late counts by its own date`() {
        let heard = line {
            $0.period(.purchase, 10, 40)
            $0.period(.purchase, "premium.monthly", 19, 49, signed: 30)
        }
        #expect(heard.state(block).on(31) == "revoked free apple")
    }

    @Test
    func `A renewal to a plan is old where it was named or charged by the act, and new where it was chosen since`() {
        func downgraded(named: Double, charged: Double) -> AccountState {
            line {
                $0.period(.purchase, "premium.monthly", 10, 40)
                $0.renewal(11, of: "premium.monthly", until: 40)
                $0.renewal(named, of: "premium.monthly", names: "pro.monthly", until: 40)
                $0.period(.renewal, "pro.monthly", 40, 70, signed: charged)
                $0.period(.renewal, "pro.monthly", 70, 100)
            }.state(block)
        }
        #expect(downgraded(named: 19, charged: 39.5).on(50) == "revoked free apple")
        #expect(downgraded(named: 20, charged: 39.5).on(80) == "revoked free apple")
        #expect(downgraded(named: 20.5, charged: 39.5).on(50) == "active pro apple")
        #expect(downgraded(named: 20.5, charged: 39.5).on(80) == "active pro apple")
        let charged = line {
            $0.period(.purchase, "premium.monthly", 10, 40)
            $0.renewal(39.2, of: "premium.monthly", until: 40)
            $0.period(.renewal, "pro.monthly", 40, 70, signed: 39.5)
            $0.period(.renewal, "pro.monthly", 70, 100)
        }
        #expect(charged.state(acts([(39.7, .revoke)])).on(80) == "revoked free apple")
        #expect(charged.state(acts([(39.4, .revoke)])).on(80) == "active pro apple")
        // What was named and taken back by the act was not named.
        let taken = line {
            $0.period(.purchase, "premium.monthly", 10, 40)
            $0.renewal(15, of: "premium.monthly", names: "pro.monthly", until: 40)
            $0.renewal(18, of: "premium.monthly", until: 40)
            $0.renewal(30, of: "premium.monthly", names: "pro.monthly", until: 40)
            $0.period(.renewal, "pro.monthly", 40, 70)
        }
        #expect(taken.state(acts([(16, .revoke)])).on(50) == "revoked free apple")
        #expect(taken.state(block).on(50) == "active pro apple")
    }

    @Test func `A renewal that begins later than Apple retries belongs to a purchase that never arrived`() {
        let lost = line {
            $0.period(.purchase, 10, 40)
            $0.period(.renewal, 140, 170)
        }
        #expect(lost.state(block).on(150) == "active pro apple")
    }

    @Test func `A change of tier is about what was there, and whoever buys premium then gets premium`() {
        let upgraded = line {
            $0.period(.purchase, 10, 40)
            $0.period(.purchase, "premium.monthly", 25, 55)
        }
        let free = upgraded.state(acts([(20, .changeTier(to: "free"))]))
        #expect(free.on(21) == "free free apple")
        #expect(free.on(26) == "active premium apple")
        let renewed = line {
            $0.period(.purchase, 10, 40)
            $0.period(.renewal, 40, 70)
        }
        #expect(renewed.state(acts([(20, .changeTier(to: "premium"))])).on(50) == "active premium apple")
        #expect(upgraded.state(acts([(20, .changeTier(to: "pro"))])).on(30) == "active premium apple")
    }

    @Test func `What was bought before a block and proven after it is old`() {
        var unclaimed = line {
            $0.period(.purchase, 10, 40, token: nil)
            $0.period(.renewal, 40, 70, token: nil)
        }
        unclaimed.ownership = bindings([(25, .proof, ann)])
        #expect(unclaimed.state(block).on(30) != "active pro apple")
        #expect(unclaimed.state().on(30) == "active pro apple")
    }

    @Test func `What would have followed after a block is revoked, since access ended by itself`() {
        let renewed = line {
            $0.period(.purchase, 10, 40)
            $0.period(.renewal, 70, 100)
        }
        let state = renewed.state(acts([(50, .revoke)]))
        #expect(state.on(60) == "expired free apple" && state.on(75) == "revoked free apple")
        #expect(state.value(at: day(75)).expiresAt == day(40))
    }

    @Test
    func `A purchase of what is not sold ends nothing that a block has ended, and a later block ends nothing of it`() {
        let upgraded = line {
            $0.period(.purchase, 10, 40)
            $0.period(.purchase, "unknown.monthly", 25, 55)
        }
        let state = upgraded.state(acts([(20, .revoke), (30, .revoke)]))
        for number in [26.0, 31, 60] {
            #expect(state.on(number) == "revoked free apple" && state.value(at: day(number)).expiresAt == day(20))
        }
        // Nor does a block of what gives nothing end what was before.
        for days in [[30.0], [22, 30]] {
            let changed = line {
                $0.period(.purchase, 10, 20)
                $0.period(.purchase, "unknown.monthly", 25, 55)
            }
            let state = changed.state(acts(days.map { ($0, .revoke) }))
            #expect(state.on(31) == "expired free apple" && state.value(at: day(31)).expiresAt == day(20))
        }
    }
}
