import Base
import Testing

@testable import Webhooks

@Suite("When a delivery is tried again")
struct ScheduleTests {
    @Test(
        "at once, and after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 hours, up to a fifth later; then it is given up"
    )
    func pauses() throws {
        let schedule = RetrySchedule.deliveries
        let seconds: [Double] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
        #expect(schedule.attempts == 10)
        for (place, pause) in seconds.enumerated() {
            for _ in 0..<50 {
                let wait = try #require(schedule.pause(afterFailures: place + 1, wish: nil)) / .seconds(1)
                #expect(wait >= pause && wait < pause * 1.2)
            }
        }
        #expect([10, 11].allSatisfy { schedule.pause(afterFailures: $0, wish: nil) == nil })
    }

    @Test(
        "what the endpoint asks for is heeded, never sooner than the schedule has it and never for longer than six hours"
    )
    func wishes() {
        let schedule = RetrySchedule.deliveries
        #expect(schedule.pause(afterFailures: 1, wish: .seconds(120)) == .seconds(120))
        #expect((schedule.pause(afterFailures: 1, wish: .seconds(1)) ?? .zero) >= .seconds(5))
        #expect(schedule.pause(afterFailures: 1, wish: .seconds(999_999)) == .seconds(6 * 3600))
        #expect(schedule.pause(afterFailures: 10, wish: .seconds(5)) == nil)
    }
}
