import Foundation
import StorehookClient
import TestSupport

/// The clocks of a life's device: the test's hour, and how far its owner has moved the wall clock.
final class LivesPhone: ClientClock, @unchecked Sendable {
    // The lock guards `aheadSeconds`.

    private let lock = NSLock()
    private var aheadSeconds: TimeInterval = 0
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    /// How far its wall clock is ahead, in seconds; negative for behind.
    var ahead: TimeInterval {
        get {
            lock.lock()
            defer { lock.unlock() }
            return aheadSeconds
        }
        set {
            lock.lock()
            defer { lock.unlock() }
            aheadSeconds = newValue
        }
    }

    var wall: Date { Date(timeIntervalSince1970: Double(clock.millisecondsSince1970) / 1000 + ahead) }

    var uptime: TimeInterval { Double(clock.millisecondsSince1970 - LivesSite.start) / 1000 }

    /// Nothing wakes by itself: a life's app asks where the test says so.
    func sleep(_ seconds: TimeInterval) async throws {
        while true { try await Task.sleep(nanoseconds: 3_600_000_000_000) }
    }
}
