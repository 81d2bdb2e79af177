public import Foundation

/// The device's clocks. May be used from any thread.
public protocol ClientClock: Sendable {
    /// What the device shows. The customer may set it.
    var wall: Date { get }
    /// Seconds since some instant of this process, which no setting changes, and which go on while the device sleeps.
    var uptime: TimeInterval { get }
    /// Waits.
    /// - Parameter seconds: how long.
    /// - Throws: `CancellationError` where the task is cancelled meanwhile.
    func sleep(_ seconds: TimeInterval) async throws
}
