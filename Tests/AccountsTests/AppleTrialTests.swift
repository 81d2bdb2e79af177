import Accounts
import Base
import Subscriptions
import Testing

@Suite("Apple's free trial on a purchase")
struct AppleTrialTests {
    /// From when and until when the last trial is, by what has begun by a day: `1-8`; nil where there is none.
    private func trial(_ story: LineStory, by last: Double) -> [Double]? {
        story.line.phases(by: shop).prefix { $0.startsAt <= day(last) }.lastTrial.map { trial in
            [trial.startsAt, trial.endsAt].compactMap(\.self)
                .map { Double($0.millisecondsSince1970) / 86_400_000 }
        }
    }

    @Test("begins with its purchase and ends with its period, whatever it is cut into, and stays when it has converted")
    func converted() {
        let story = line {
            $0.period(.purchase, "pro.monthly", 1, 8, trial: true)
            $0.renewal(1, until: 8)
            $0.renewal(2, until: 8, renews: false)
            $0.renewal(3, until: 8)
            // Charged ahead: from then on access goes on to day 38.
            $0.period(.renewal, "pro.monthly", 8, 38, signed: 7.5)
            $0.renewal(7.5, until: 38)
        }
        for last in [1, 2.5, 4, 7.8, 8, 30, 50] { #expect(trial(story, by: last) == [1, 8], "\(last)") }
        #expect(trial(story, by: 0.5) == nil)
    }

    @Test("ends before its period where it is refunded or upgraded")
    func ended() {
        let refunded = line { $0.period(.purchase, "pro.monthly", 1, 8, trial: true, revoked: 4) }
        #expect(
            trial(refunded, by: 3) == [1, 8] && trial(refunded, by: 5) == [1, 4] && trial(refunded, by: 9) == [1, 4])
        let upgraded = line {
            $0.period(.purchase, "pro.monthly", 1, 8, trial: true)
            $0.period(.purchase, "premium.monthly", 5, 35)
        }
        #expect(trial(upgraded, by: 4) == [1, 8] && trial(upgraded, by: 6) == [1, 5])
    }

    @Test("is none where nothing was free, and the last one where there were several")
    func several() {
        #expect(trial(line { $0.period(.purchase, 1, 31) }, by: 10) == nil)
        let twice = line {
            $0.period(.purchase, "pro.monthly", 1, 8, trial: true)
            $0.period(.purchase, "pro.monthly", 20, 27, trial: true)
        }
        #expect(trial(twice, by: 15) == [1, 8] && trial(twice, by: 20) == [20, 27])
    }
}
