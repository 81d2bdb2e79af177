import Foundation

@testable import StorehookClient

/// The clocks of a device that a test moves. Who sleeps on it wakes by ``wake()`` alone.
final class MovedClock: ClientClock, @unchecked Sendable {
    static let start = Date(timeIntervalSince1970: 1_800_000_000)

    // The lock guards these.
    private var passed: TimeInterval = 0
    private var offset: TimeInterval = 0
    private var booted: TimeInterval = 0
    private var sleepers: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var next = 0
    private var asked: [TimeInterval] = []
    private let lock = NSLock()

    /// The true time.
    var now: Date { lock.withLock { Self.start + passed } }

    var wall: Date { lock.withLock { Self.start + passed + offset } }

    var uptime: TimeInterval { lock.withLock { passed - booted } }

    /// How long each who slept wanted to.
    var naps: [TimeInterval] { lock.withLock { asked } }

    /// How many sleep now.
    var sleeping: Int { lock.withLock { sleepers.count } }

    func pass(_ seconds: TimeInterval) { lock.withLock { passed += seconds } }

    /// Sets what the device shows, in seconds off the true time.
    func set(_ seconds: TimeInterval) { lock.withLock { offset = seconds } }

    /// As a process that starts now: what it counts from is new.
    func reboot() { lock.withLock { booted = passed } }

    /// Has all who sleep go on.
    func wake() {
        let woken = lock.withLock {
            defer { sleepers = [:] }
            return sleepers.values
        }
        for sleeper in woken { sleeper.resume() }
    }

    func sleep(_ seconds: TimeInterval) async throws {
        let id = lock.withLock {
            asked.append(seconds)
            next += 1
            return next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isCancelled = lock.withLock {
                    if Task.isCancelled { return true }
                    sleepers[id] = continuation
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            lock.withLock { sleepers.removeValue(forKey: id) }?.resume(throwing: CancellationError())
        }
    }
}
