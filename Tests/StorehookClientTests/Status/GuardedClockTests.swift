import Foundation
import Testing

@testable import StorehookClient

@Suite("The clock that gains nothing when the device's is set back")
struct GuardedClockTests {
    private let device = MovedClock()

    @Test("Without the server it is the wall clock's, and never goes back")
    func wall() {
        var clock = GuardedClock(device)
        device.pass(100)
        #expect(clock.now == MovedClock.start + 100)
        clock.notice()
        device.set(-1_000_000)
        #expect(clock.now == MovedClock.start + 100)
        device.pass(50)
        #expect(clock.now == MovedClock.start + 150)
        device.set(1000)
        #expect(clock.now == MovedClock.start + 1150)
    }

    @Test("A process begins at the highest time of the one before")
    func restarts() {
        device.reboot()
        device.set(-1_000_000)
        var clock = GuardedClock(device)
        clock.raise(to: MovedClock.start)
        device.pass(10)
        #expect(clock.now == MovedClock.start + 10)
        // A time that is over raises nothing.
        clock.raise(to: MovedClock.start - 500)
        #expect(clock.now == MovedClock.start + 10)
    }

    @Test("What the server states counts, in both directions", arguments: [-500_000.0, 500_000])
    func anchors(offset: TimeInterval) {
        device.set(offset)
        var clock = GuardedClock(device)
        clock.notice()
        clock.anchor(at: MovedClock.start)
        #expect(clock.now == MovedClock.start)
        device.pass(60)
        clock.notice()
        #expect(clock.now == MovedClock.start + 60)
    }

    @Test("The system's clock goes on")
    func system() async throws {
        let clock = SystemClock()
        let before = clock.uptime
        try await clock.sleep(0)
        #expect(clock.uptime >= before)
        #expect(abs(clock.wall.timeIntervalSinceNow) < 60)
        let task = Task { try await clock.sleep(3600) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
