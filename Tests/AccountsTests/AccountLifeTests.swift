import Accounts
import Base
import StoreModel
import Subscriptions
import TestSupport
import Testing

/// The rules of purchases and accounts against a second model of them, by another author, from records to the account's
/// status.
@Suite("Accounts against an independent model")
struct AccountLifeTests {
    private static let lives = sampledSeeds(of: 2_000, oneIn: 20)
    /// Of lives whose accounts are compared, which takes longer.
    private static let accountLives = sampledSeeds(of: 2_000, oneIn: 50)
    /// Whether a message is lost. By default it is the one or the other, chosen by chance.
    private static let losses = sampled([false, true])

    @Test(
        "a random line is what the model says, just before, at and just after each border, whole or with one message lost",
        arguments: losses)
    func lines(_ isLossy: Bool) throws {
        try Self.live(isLossy) { life, heard in Self.difference(lines: heard, of: life) }
    }

    @Test(
        "a random line with seats that were added and refunded is what the model says, whole or with one message lost",
        arguments: losses)
    func seats(_ isLossy: Bool) throws {
        var (added, refunded) = (0, 0)
        try Self.live(isLossy, with: LifeFeature.first.union([.seats])) { life, heard in
            added += life.messages.count { $0.name == "SEATS" }
            refunded += life.messages.count { $0.name == "REFUND" && $0.transaction?.additionalReason != nil }
            return Self.difference(lines: heard, of: life)
        }
        #expect(isEnough(added, of: 500) && isEnough(refunded, of: 100), "\(added) seats, \(refunded) refunded")
    }

    @Test(
        "a thing bought for good, restored, refunded and bought again is held when the model says, whole or with one lost",
        arguments: losses)
    func things(_ isLossy: Bool) throws {
        var (again, held) = (0, 0)
        try Self.live(isLossy, with: LifeFeature.first.union([.boughtAgain])) { life, heard in
            for (line, thing) in heard.things.sorted(by: { $0.key < $1.key }) where thing.kind != .consumable {
                guard let model = ThingModel(life.messages.filter { $0.line == line }) else { continue }
                again += thing.sales.count - 1
                let difference = Self.difference(model.borders(life.catalog)) { instant -> (rules: Bool, model: Bool) in
                    let at = Timestamp(millisecondsSince1970: instant)
                    let isHeld = thing.purchasedAt <= at && !thing.isRevoked(at: at)
                    held += isHeld ? 1 : 0
                    return (isHeld, model.purchased(at: instant) != nil && model.revoked(at: instant) == nil)
                }
                if let difference { return "\(line) \(difference)" }
            }
            return nil
        }
        #expect(isEnough(again, of: 100) && held > 0, "\(again) bought again")
    }

    @Test(
        "a random account is what the model says, just before, at and just after each border, whole or with one message lost",
        arguments: losses)
    func accounts(_ isLossy: Bool) throws {
        try Self.live(isLossy, of: Self.accountLives, Self.difference(account:heard:))
    }

    @Test(
        "a random account with seats and with things that are bought again is what the model says, whole or with one message lost",
        arguments: losses)
    func accountsBuyingMore(_ isLossy: Bool) throws {
        try Self.live(
            isLossy, of: Self.accountLives, with: LifeFeature.first.union([.seats, .boughtAgain]),
            Self.difference(account:heard:))
    }

    @Test(
        "a random account is what the catalog of each instant makes of it, and acts are about what was there by their own, whole or with one message lost",
        arguments: losses)
    func catalogs(_ isLossy: Bool) throws {
        try Self.live(
            isLossy, of: Self.accountLives, with: LifeFeature.first.union([.catalogs]),
            Self.difference(account:heard:))
    }

    @Test(
        "a random account that was erased has what it proved since, and nothing else, whole or with one message lost",
        arguments: losses)
    func erased(_ isLossy: Bool) throws {
        var back = 0
        try Self.live(isLossy, with: LifeFeature.first.union([.erasedAccount])) { life, heard in
            back += AccountModel(life).verdict(at: .max / 2).status == "free" ? 0 : 1
            return Self.difference(account: life, heard: heard)
        }
        #expect(back > 3, "\(back) came back")
    }

    private static func difference(account life: AccountLife, heard: LifeFacts) -> String? {
        let erased = life.erased ?? .min
        let state = AccountState(
            heard.facts, by: heard.catalogs,
            from: life.erased.map { Timestamp(millisecondsSince1970: $0) } ?? .distantPast)
        let model = AccountModel(life)
        let changes = state.phases.map(\.startsAt).filter { $0 > .distantPast }.map(\.millisecondsSince1970)
        return difference(Set(changes).union(model.borders)) { instant in
            (Said(state, at: max(instant, erased)), Said(model.verdict(at: max(instant, erased))))
        }
    }

    private static func difference(lines heard: LifeFacts, of life: AccountLife) -> String? {
        for (line, subscription) in heard.subscriptions.sorted(by: { $0.key < $1.key }) {
            let model = LineModel(life.messages.filter { $0.line == line }, leeway: life.leeway)
            let changes = subscription.phases.map(\.startsAt.millisecondsSince1970)
            let difference = Self.difference(Set(changes).union(model.borders)) { instant in
                let status = subscription.status(at: Timestamp(millisecondsSince1970: instant))
                return (status.map(SaidOfLine.init), model.verdict(at: instant).map(SaidOfLine.init))
            }
            if let difference { return "\(line) \(difference)" }
        }
        return nil
    }

    /// Tells of each life in which a test finds a difference; its messages are heard in any order.
    private static func live(
        _ isLossy: Bool, of seeds: [UInt64] = AccountLifeTests.lives,
        with features: Set<LifeFeature> = LifeFeature.first,
        _ difference: (AccountLife, LifeFacts) throws -> String?
    ) throws {
        var generator = SeededGenerator()
        for seed in seeds {
            let life = AccountLifeMaker.life(seed: seed, with: features, losing: isLossy)
            let heard = try LifeFacts(life, heard: life.messages.shuffled(using: &generator))
            if let difference = try difference(life, heard) {
                Issue.record("life \(seed), seed \(generator.seed): \(difference)\n\(life.story)")
            }
        }
    }

    /// The first instant at which the two say something else, and what; nil where there is none.
    private static func difference<Said: Equatable>(
        _ borders: Set<Int64>, _ both: (Int64) -> (rules: Said, model: Said)
    ) -> String? {
        for border in borders.sorted() {
            for instant in border - 1...border + 1 {
                let (rules, model) = both(instant)
                if rules != model { return "at \(instant): \(rules) is to be \(model)" }
            }
        }
        return nil
    }

    /// What is compared of a line.
    private struct SaidOfLine: Equatable {
        var status: String
        var product: String?
        var isTrial: Bool

        init(_ status: StatusAtInstant) {
            self.status = status.status.rawValue
            (product, isTrial) = (status.productID, status.inTrial)
        }

        init(_ verdict: LineVerdict) {
            (status, product) = (verdict.status.rawValue, verdict.period.product)
            isTrial = verdict.inTrial
        }
    }

    /// What is compared of an account.
    private struct Said: Equatable {
        var status: String
        var tier: String
        var access: Bool
        /// What gives access.
        var source: String?
        var expiresAt: Int64?
        var tierUntil: Int64?
        var periodEndsAt: Int64?

        init(_ state: AccountState, at instant: Int64) {
            let phase = state.value(at: Timestamp(millisecondsSince1970: instant))
            (status, tier, access) = (phase.status.rawValue, phase.tier, phase.access)
            source = phase.access ? phase.source.rawValue : nil
            expiresAt = phase.expiresAt?.millisecondsSince1970
            tierUntil = phase.tierUntil?.millisecondsSince1970
            periodEndsAt = phase.periodEndsAt?.millisecondsSince1970
        }

        init(_ verdict: AccountVerdict) {
            (status, tier, access) = (verdict.status, verdict.tier, verdict.access)
            source = verdict.access ? verdict.source : nil
            (expiresAt, tierUntil, periodEndsAt) = (verdict.expiresAt, verdict.tierUntil, verdict.periodEndsAt)
        }
    }
}
