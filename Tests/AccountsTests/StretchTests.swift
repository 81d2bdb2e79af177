import Accounts
import AppStorePayloads
import Base
import Subscriptions
import Testing

/// How far a token, a proof and a move reach on a line.
struct StretchTests {
    @Test func `A token that only renewal info has takes nothing from whoever paid or proved`() {
        var story = line {
            $0.period(.purchase, 10, 40, token: nil)
            $0.renewal(15, names: "premium.monthly", until: 40, token: bob)
        }
        #expect(story.line.owner(at: day(16)) == bob)
        story.ownership = bindings([(12, .proof, ann)])
        #expect(story.line.owner(at: day(16)) == ann)
        story.ownership = bindings([(17, .proof, ann)])
        #expect(story.line.owner(at: day(18)) == ann)
        let signed = line {
            $0.period(.purchase, 10, 40)
            $0.renewal(15, names: "premium.monthly", until: 40, token: bob)
        }
        #expect(signed.line.owner(at: day(16)) == ann)
        // Once the renewal is bought, its own token counts.
        let renewed = line {
            $0.period(.purchase, 10, 40)
            $0.renewal(15, names: "premium.monthly", until: 40, token: bob)
            $0.period(.renewal, "premium.monthly", 40, 70, token: bob)
        }
        #expect(renewed.line.owner(at: day(39)) == ann)
        #expect(renewed.line.owner(at: day(40)) == bob)
    }

    @Test func `A token does not reach over a lapse into a later purchase`() {
        var story = line {
            $0.period(.purchase, 10, 40)
            $0.period(.purchase, 110, 140, token: nil)
            $0.period(.renewal, 140, 170, token: nil)
        }
        #expect(story.line.stretchEnds == [StretchEnd(at: day(110), account: ann)])
        // Until it is proven, it stays the former owner's.
        #expect(story.line.owner(at: day(111)) == ann)
        story.ownership = bindings([(112, .proof, eve)])
        #expect(story.line.owner(at: day(111)) == ann)
        #expect(story.line.owner(at: day(150)) == eve)
        #expect(story.state(of: eve).on(150) == "active pro apple")
        #expect(
            story.state(of: ann).on(150) == "free free none" || story.state(of: ann).on(150) == "expired free apple")
        #expect(story.line.owners == [ann, eve])
    }

    @Test func `A later stretch's own token counts before a proof, and moves reach to the end of theirs`() {
        var story = line {
            $0.period(.purchase, 10, 40)
            $0.period(.purchase, 110, 140, token: bob)
            $0.period(.purchase, 200, 230, token: nil)
        }
        story.ownership = bindings([(20, .staff, eve)])
        #expect([15, 25, 100].map { story.line.owner(at: day($0)) } == [ann, eve, eve])
        #expect(story.line.owner(at: day(110)) == bob)
        #expect(story.line.owner(at: day(210)) == bob)
        story.ownership = bindings([(20, .staff, eve), (120, .staff, ann), (210, .proof, eve)])
        #expect(story.line.owner(at: day(205)) == ann)
        #expect(story.line.owner(at: day(211)) == eve)
    }

    @Test func `Recoveries, upgrades and contiguous purchases go on with their stretch`() {
        let recovered = line {
            $0.period(.purchase, 10, 40)
            $0.period(.renewal, 60, 90, token: nil)
        }
        #expect(recovered.line.stretchEnds.isEmpty && recovered.line.owner(at: day(61)) == ann)
        let upgraded = line {
            $0.period(.purchase, 10, 40)
            $0.period(.purchase, "premium.monthly", 20, 50, token: nil)
        }
        #expect(upgraded.line.stretchEnds.isEmpty && upgraded.line.owner(at: day(21)) == ann)
        let refunded = line {
            $0.period(.purchase, 10, 40, revoked: 15)
            $0.period(.purchase, 20, 50, token: nil)
        }
        #expect(refunded.line.stretchEnds == [StretchEnd(at: day(20), account: ann)])
    }

    @Test func `Where Apple does not say what began, a day must lie in between without retries`() {
        func later(_ start: Double, isRetried: Bool = false) -> AccountLine {
            line {
                $0.period(.unknown, 10, 40)
                if isRetried { $0.renewal(40, until: 40, isRetried: true, status: 3) }
                $0.period(.unknown, start, start + 30, token: nil)
            }.line
        }
        #expect(later(41).stretchEnds.isEmpty)
        #expect(later(41.1).stretchEnds.map(\.at) == [day(41.1)])
        #expect(later(60, isRetried: true).stretchEnds.isEmpty)
        #expect(later(110, isRetried: true).stretchEnds.count == 1)
    }

    @Test func `The first token of a period counts from its beginning, another one from its signature`() {
        var facts = PurchaseFacts()
        for (signed, token) in [(10.0, nil), (15, ann), (20, bob)] as [(Double, UniqueIdentifier?)] {
            facts.merge(
                TransactionFact(
                    transactionID: "1", productID: "pro.monthly", purchasedAt: day(10), expiresAt: day(40),
                    appAccountToken: token, signedAt: day(signed), digest: [UInt8(signed)]))
        }
        let state = PurchaseState(facts).subscription
        #expect([11, 16, 20, 30].map { state?.status(at: day($0))?.appAccountToken } == [ann, ann, bob, bob])
    }

    @Test func `The end of a line says the same as all of it`() {
        let story = line {
            $0.period(.purchase, 10, 40)
            $0.period(.purchase, 60, 90, token: nil)
            for place in 0..<4 { $0.period(.renewal, 90 + Double(place) * 30, 120 + Double(place) * 30, token: nil) }
            $0.period(.purchase, "premium.monthly", 215, 245, token: bob)
            $0.period(.purchase, 300, 330, token: nil)
        }
        let whole = PurchaseState(story.facts)
        let horizon = day(190)
        var rest = story.facts
        rest.cut(at: day(120))
        let end = PurchaseState(rest, from: horizon, carry: whole.carried(to: horizon)).subscription
        let phases = whole.subscription?.phases ?? []
        #expect(end?.stretchEnds == whole.subscription?.stretchEnds)
        #expect(end?.phases.dropFirst() == phases.drop { $0.startsAt <= horizon })
        #expect(phases.last?.origin.boughtAt == day(300))
        #expect(phases.first?.origin == PhaseOrigin())
    }

    @Test func `The account that renewal info names goes on while its renewal is charged and has not begun`() {
        var story = line {
            $0.period(.purchase, 10, 40, token: nil)
            $0.renewal(15, names: "premium.monthly", until: 40, token: bob)
            $0.period(.renewal, "premium.monthly", 40.5, 70, signed: 39.5, token: bob)
        }
        for day in [16.0, 39.4, 39.5, 39.9, 40, 40.5, 41] {
            #expect(story.state(of: bob).value(at: AccountsTests.day(day)).access, "\(day)")
        }
        // Once nothing else runs, the renewal decides that was charged, and it is signed for Bob.
        story.ownership = bindings([(39.6, .proof, ann)])
        #expect([39.7, 40.1].map { story.line.owner(at: day($0)) } == [ann, bob])
    }

    @Test func `Renewal info's account counts for nothing where a period names another, also one that was erased`() {
        var story = line {
            $0.period(.purchase, 10, 40, token: bob)
            $0.renewal(15, names: "premium.monthly", until: 40, token: ann)
        }
        story.ownership = bindings([(20, .erasure, bob), (22, .proof, eve)])
        #expect([19, 21, 23].map { story.line.owner(at: day($0)) } == [bob, nil, eve])
    }

    @Test func `A stretch goes by what was known when it began, and by when its periods really ended`() {
        func bought(
            _ id: String, _ from: Double, _ until: Double, revoked: Double? = nil, signed: Double? = nil
        ) -> TransactionFact {
            TransactionFact(
                transactionID: id, productID: "\(id).monthly", purchasedAt: day(from), expiresAt: day(until),
                revokedAt: revoked.map(day), reason: .purchase, signedAt: day(signed ?? from),
                digest: [UInt8(signed ?? from)])
        }
        // The refund is taken back after the customer bought again.
        let reversed = PurchaseFacts(transactions: [
            bought("1", 10, 40, revoked: 15, signed: 15), bought("2", 20, 50), bought("1", 10, 40, signed: 25),
        ])
        #expect(SubscriptionState(reversed)?.stretchEnds.map(\.at) == [day(20)])
        // An upgrade ends a plan whose own end lies after that of the upgrade.
        let upgraded = PurchaseFacts(transactions: [
            bought("1", 10, 60), bought("2", 20, 50), bought("3", 55, 85),
        ])
        #expect(SubscriptionState(upgraded)?.stretchEnds.map(\.at) == [day(55)])
    }

    @Test func `What an account had before it was erased gives it nothing when it comes back`() {
        var story = line { $0.period(.purchase, 10, 40, token: nil) }
        func state(erasedAt: Double) -> AccountState {
            AccountState(
                AccountFacts(account: ann, lines: [story.line], erasedAt: day(erasedAt)), catalog: shop,
                from: day(erasedAt))
        }
        // It was another account's until it had ended.
        story.ownership = bindings([(11, .proof, ann), (20, .transfer, bob), (70, .transfer, ann)])
        #expect(story.state().on(71) == "expired free apple")
        #expect(state(erasedAt: 30).on(71) == "free free none")
        // What its erasure freed, and it proves again, counts from the beginning, like a purchase that had no owner.
        story.ownership = bindings([(11, .proof, ann), (30, .erasure, ann), (70, .proof, ann)])
        #expect(state(erasedAt: 30).on(69) == "free free none" && state(erasedAt: 30).on(71) == "expired free apple")
    }
}
