public import Foundation

/// The clocks of the device that the app runs on.
public struct SystemClock: ClientClock {
    private static let start = ContinuousClock.now

    /// The device's clocks.
    public init() { _ = Self.start }

    /// What the device shows.
    public var wall: Date { Date() }

    /// Seconds since the first use of this type, sleep included.
    public var uptime: TimeInterval {
        let passed = Self.start.duration(to: .now).components
        return TimeInterval(passed.seconds) + TimeInterval(passed.attoseconds) / 1e18
    }

    /// Waits.
    /// - Throws: `CancellationError`.
    public func sleep(_ seconds: TimeInterval) async throws { try await Task.sleep(for: .seconds(max(0, seconds))) }
}
