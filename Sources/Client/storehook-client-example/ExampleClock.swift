import Foundation
import StorehookClient

/// A device's clocks, the wall clock moved by its owner.
struct ExampleClock: ClientClock {
    /// How far the wall clock is ahead, in seconds; negative for behind.
    let ahead: TimeInterval
    private let system = SystemClock()

    init(ahead: TimeInterval) { self.ahead = ahead }

    var wall: Date { system.wall + ahead }

    var uptime: TimeInterval { system.uptime }

    func sleep(_ seconds: TimeInterval) async throws { try await system.sleep(seconds) }
}
