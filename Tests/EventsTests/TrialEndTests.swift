import Accounts
import AppStorePayloads
import Base
import Events
import Testing

@Suite("How a trial ends")
struct TrialEndTests {
    private static func end(_ before: AccountPhase?, _ after: AccountPhase) -> TrialEnd? {
        EventDraft(
            .accountAccessChanged, environment: "Production", bundleID: nil, account: UniqueIdentifier(high: 1, low: 1),
            subject: .account(after, previous: before), cause: .clock, instant: day(1)
        ).trialEnd
    }

    private static func phase(
        _ status: AccountStatus, _ source: AccountSource, inTrial: Bool = false
    ) -> AccountPhase {
        AccountPhase(startsAt: day(0), status: status, tier: "pro", source: source, inTrial: inTrial)
    }

    @Test("is said by the event about the account: a purchase took its place, or nothing did")
    func ends() {
        let own = Self.phase(.trial, .trial, inTrial: true)
        let apples = Self.phase(.trial, .apple, inTrial: true)
        let off = Self.phase(.cancelled, .apple, inTrial: true)
        for trial in [own, apples, off] {
            #expect(Self.end(trial, Self.phase(.active, .apple)) == .converted)
            #expect(Self.end(trial, Self.phase(.trialExpired, .none)) == .ended)
            // Apple gave the money of nothing back, or staff took it away.
            #expect(Self.end(trial, Self.phase(.revoked, .apple)) == .ended)
            // A trial goes on, and so does what staff gave on top of it.
            for going in [own, apples, off, Self.phase(.active, .grant)] { #expect(Self.end(trial, going) == nil) }
        }
        // The first charge fails: nothing is decided in the grace period.
        let grace = Self.phase(.gracePeriod, .apple)
        #expect(Self.end(apples, grace) == nil)
        #expect(Self.end(grace, Self.phase(.trialExpired, .none)) == .ended)
        // What staff gave outlasted the trial, and then ended.
        #expect(Self.end(Self.phase(.active, .grant), Self.phase(.trialExpired, .trial)) == .ended)
        // Nothing of a trial, or nothing new of it.
        #expect(Self.end(Self.phase(.active, .apple), Self.phase(.expired, .apple)) == nil)
        #expect(Self.end(Self.phase(.trialExpired, .trial), Self.phase(.active, .apple)) == nil)
        #expect(Self.end(Self.phase(.trialExpired, .trial), Self.phase(.trialExpired, .trial)) == nil)
        // A first report says what stands.
        #expect(Self.end(nil, Self.phase(.trialExpired, .trial)) == nil)
        #expect(EventDraft.test(environment: "Production", bundleID: nil, at: day(0)).trialEnd == nil)
    }
}
