import AppStorePayloads
import Base
import StoreModel
import Subscriptions
import TestSupport
import Testing

/// The derived state against a store that is not the simulator's: another author's, written from Apple's documents.
@Suite("Against an independent model of the store")
struct StoreModelTests {
    private static let share = 16
    private static let lives = sampledSeeds(of: 1_200, oneIn: UInt64(share))
    private static let orders = 60
    private static let glances = 50

    @Test(
        "every story comes true, whole or with any one notification lost", arguments: ModelStory.catalogue.map(\.name))
    func stories(_ name: String) throws {
        let story = try #require(ModelStory.catalogue.first { $0.name == name })
        for lost in [nil] + story.notifications.indices.map(Optional.some) {
            let known = KnownFacts(try Self.arrived(of: story, losing: lost))
            let expectations = story.expectations(losing: lost)
            #expect(!expectations.isEmpty)
            for expectation in expectations {
                let instant = Timestamp(millisecondsSince1970: expectation.instant)
                let value = known.state(of: PurchaseKey(expectation.originalTransactionId))?.status(at: instant)
                let different = Self.differences(value, expectation.truth)
                #expect(different.isEmpty, "losing \(lost.map(String.init) ?? "none"), at \(instant)")
            }
        }
    }

    @Test(
        "a story ends in one state, whatever came first and however often", arguments: ModelStory.catalogue.map(\.name))
    func anyOrder(_ name: String) throws {
        let story = try #require(ModelStory.catalogue.first { $0.name == name })
        var generator = TestSupport.SeededGenerator()
        for lost in [nil] + story.notifications.indices.map(Optional.some) {
            let heard = try Self.arrived(of: story, losing: lost)
            let expected = KnownFacts(heard).derived
            for _ in 0..<Self.orders {
                let known = KnownFacts(Self.shuffledWithRepeats(heard, using: &generator))
                guard known.derived == expected else {
                    Issue.record("losing \(lost.map(String.init) ?? "none"), seed \(generator.seed)")
                    return
                }
            }
        }
    }

    @Test("a life that is heard whole is right as it goes and when looked back over, and nothing in it is amiss")
    func wholeLives() throws {
        var generator = TestSupport.SeededGenerator()
        var compared = 0
        for seed in Self.lives {
            let life = try ModelLife(seed: seed)
            var known = KnownFacts()
            for (index, heard) in life.heard.enumerated() {
                known.merge(heard)
                let purchase = try #require(heard.purchase)
                let value = known.state(of: purchase)?.status(at: heard.signedAt)
                #expect(
                    value?.status.appleStatus == heard.reportedStatus?.status, "life \(seed), \(index) \(heard.name)")
                let different = Self.differences(value, life.truth(of: purchase, at: heard.signedAt))
                #expect(different.isEmpty, "life \(seed), \(index) \(heard.name)")
            }
            for (purchase, facts) in known.purchases {
                let state = PurchaseState(facts)
                #expect(state.anomalies.isEmpty, "life \(seed)")
                for instant in Self.instants(of: life, using: &generator) {
                    guard
                        !life.store.isUntold(
                            of: purchase.originalTransactionID, at: instant.millisecondsSince1970)
                    else { continue }
                    let value = state.subscription?.status(at: instant)
                    let truth = life.truth(of: purchase, at: instant)
                    #expect(
                        value?.status.appleStatus == truth?.status,
                        "life \(seed), looking back at \(instant), seed \(generator.seed)")
                    compared += 1
                }
            }
        }
        #expect(isEnough(compared, of: 40_000))
    }

    @Test("with three notifications in ten lost, each that comes heals the status, and what is amiss is what lost some")
    func lossyLives() throws {
        var generator = TestSupport.SeededGenerator()
        var (delivered, lost, named) = (0, 0, 0)
        for seed in Self.lives {
            let life = try ModelLife(seed: seed)
            var known = KnownFacts()
            var incomplete: Set<PurchaseKey> = []
            for (index, heard) in life.heard.enumerated() {
                let purchase = try #require(heard.purchase)
                guard !Self.isLost(using: &generator) else {
                    incomplete.insert(purchase)
                    lost += 1
                    continue
                }
                known.merge(heard)
                delivered += 1
                let status = known.state(of: purchase)?.status(at: heard.signedAt)?.status
                #expect(
                    status?.appleStatus == heard.reportedStatus?.status,
                    "life \(seed), \(index) \(heard.name), seed \(generator.seed)")
            }
            for (purchase, facts) in known.purchases {
                let anomalies = PurchaseState(facts).anomalies
                #expect(
                    anomalies.isEmpty || incomplete.contains(purchase), "life \(seed), seed \(generator.seed)")
                if !anomalies.isEmpty { named += 1 }
            }
        }
        #expect(
            isEnough(delivered, of: 16_000) && isEnough(lost, of: 6_000) && isEnough(named, of: 80, oneIn: Self.share))
    }

    @Test("the same answer of Apple's, asked for again and signed anew, changes nothing that was reported")
    func askedAgain() throws {
        var generator = TestSupport.SeededGenerator()
        var compared = 0
        for seed in Self.lives {
            let life = try ModelLife(seed: seed)
            var known = KnownFacts()
            for (index, heard) in life.heard.enumerated() {
                let purchase = try #require(heard.purchase)
                let answer = heard.signedAgain(after: 60, digest: UInt8(truncatingIfNeeded: index))
                let next = life.heard[(index + 1)...].first { $0.purchase == purchase }?.signedAt ?? .distantFuture
                guard !Self.isLost(using: &generator) else { continue }
                known.merge(heard)
                guard next > answer.signedAt.adding(seconds: 60) else { continue }
                known.merge(answer)
                // As long as nothing else happens.
                let instants = [61, 120, 86_400, 5 * 86_400].map { heard.signedAt.adding(seconds: $0) }
                for instant in instants where instant < next {
                    let truth = life.truth(of: purchase, at: instant)
                    guard truth?.status == heard.reportedStatus?.status else { break }
                    let status = known.state(of: purchase)?.status(at: instant)?.status
                    #expect(
                        status?.appleStatus == truth?.status,
                        "life \(seed), \(index) \(heard.name), seed \(generator.seed)")
                    compared += 1
                }
            }
        }
        #expect(isEnough(compared, of: 20_000))
    }

    @Test(
        "a payer's access goes on at a seam while the post is on its way, and nobody else's for longer than the leeway")
    func waiting() throws {
        let leeway: Int64 = 600
        let policy = StatusPolicy(renewalLeewaySeconds: leeway)
        var (paid, unpaid) = (0, 0)
        for seed in Self.lives {
            let life = try ModelLife(seed: seed)
            var known = KnownFacts()
            for heard in life.heard {
                let purchase = try #require(heard.purchase)
                let facts = known.purchases[purchase]
                known.merge(heard)
                guard let facts else { continue }
                // Right before it is signed, by what was signed until then.
                let instant = heard.signedAt.adding(seconds: -2)
                let has =
                    SubscriptionState(facts, in: purchase.environment, policy: policy)?.status(at: instant)?.status
                    .access
                let truth = life.truth(of: purchase, at: instant)?.hasAccess ?? false
                // A purchase, or a charge that goes through at last, is known when it is told; a renewal was to be expected.
                if truth, heard.name == "DID_RENEW" { #expect(has == true, "life \(seed), before \(heard.name)") }
                if !truth, has == true {
                    unpaid += 1
                    let earlier = life.truth(of: purchase, at: instant.adding(seconds: -leeway))
                    #expect(earlier?.hasAccess == true, "life \(seed), before \(heard.name)")
                }
                if truth, has == true, SubscriptionState(facts)?.status(at: instant)?.status.access == false {
                    paid += 1
                }
            }
        }
        #expect(isEnough(paid, of: 200, oneIn: Self.share) && isEnough(unpaid, of: 40, oneIn: Self.share))
    }

    @Test("a life ends in one state, whatever came first and however often, with some of it lost or none")
    func livesInAnyOrder() throws {
        var generator = TestSupport.SeededGenerator()
        for seed in Self.lives {
            let all = try ModelLife(seed: seed).heard
            for heard in [all, all.filter { _ in !Self.isLost(using: &generator) }] {
                let expected = KnownFacts(heard).derived
                for _ in 0..<5 {
                    let known = KnownFacts(Self.shuffledWithRepeats(heard, using: &generator))
                    guard known.derived == expected else {
                        Issue.record("life \(seed), seed \(generator.seed)")
                        return
                    }
                }
            }
        }
    }

    // MARK: - What is told

    private static func arrived(of story: ModelStory, losing lost: Int?) throws -> [HeardNotification] {
        try story.notifications.indices.filter { $0 != lost }.map { try HeardNotification(story.notifications[$0]) }
    }

    private static func isLost(using generator: inout TestSupport.SeededGenerator) -> Bool {
        Int.random(in: 0..<10, using: &generator) < 3
    }

    private static func shuffledWithRepeats(
        _ heard: [HeardNotification], using generator: inout TestSupport.SeededGenerator
    ) -> [HeardNotification] {
        let repeated = heard.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
        return (heard + repeated).shuffled(using: &generator)
    }

    /// Instants all over a life, from before it to well after it, and beside each signing.
    private static func instants(
        of life: ModelLife, using generator: inout TestSupport.SeededGenerator
    ) -> [Timestamp] {
        guard let first = life.heard.first?.signedAt, let last = life.heard.last?.signedAt else { return [] }
        let range = first.adding(days: -3).millisecondsSince1970...last.adding(days: 120).millisecondsSince1970
        return (0..<glances).map { _ in
            Timestamp(millisecondsSince1970: .random(in: range, using: &generator))
        }
    }

    /// What differs between what is derived and what is so; where the store says nothing there is nothing to differ.
    private static func differences(_ value: StatusAtInstant?, _ truth: ModelTruth?) -> [String] {
        guard let value, let truth else { return (value == nil) == (truth == nil) ? [] : ["existence"] }
        var different: [String] = []
        func check<T: Equatable>(_ what: String, _ mine: T, _ theirs: T) {
            if mine != theirs { different.append("\(what) \(mine) is \(theirs)") }
        }
        check("status", value.status.appleStatus, truth.status)
        check("product", value.productID, truth.productId)
        check("access", value.status.access, truth.hasAccess)
        if let until = truth.accessUntil {
            check("access until", value.accessUntil, Timestamp(millisecondsSince1970: until))
        }
        check("trial", value.inTrial, truth.isTrial)
        // Whether it would renew is past asking once it is over.
        if ![2, 5].contains(truth.status) { check("will renew", value.willRenew, truth.renews) }
        // Renewal info may name the customer of a period that has no token.
        if let token = truth.appAccountToken { check("account", value.appAccountToken, UniqueIdentifier(token)) }
        return different
    }
}
