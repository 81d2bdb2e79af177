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
    private static let lives = sampledSeeds(of: 2_000)

    @Test(
        "a random line is what the model says, just before, at and just after each border, whole or with one message lost",
        arguments: [false, true])
    func lines(_ isLossy: Bool) throws {
        try Self.live(isLossy) { life, heard in
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
    }

    @Test(
        "a random account is what the model says, just before, at and just after each border, whole or with one message lost",
        arguments: [false, true])
    func accounts(_ isLossy: Bool) throws {
        try Self.live(isLossy) { life, heard in
            let state = AccountState(heard.facts, catalog: heard.catalog)
            let model = AccountModel(life)
            let changes = state.phases.map(\.startsAt).filter { $0 > .distantPast }.map(\.millisecondsSince1970)
            return Self.difference(Set(changes).union(model.borders)) { instant in
                (Said(state, at: instant), Said(model.verdict(at: instant)))
            }
        }
    }

    /// Tells of each life in which a test finds a difference; its messages are heard in any order.
    private static func live(
        _ isLossy: Bool, _ difference: (AccountLife, LifeFacts) throws -> String?
    ) throws {
        var generator = SeededGenerator()
        for seed in lives {
            let life = AccountLifeMaker.life(seed: seed, losing: isLossy)
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
