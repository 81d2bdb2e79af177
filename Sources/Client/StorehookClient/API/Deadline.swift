import Foundation

/// The most time that something may take which the app does, and which cannot be ended from here.
enum Deadline {
    /// Waits for work, and no longer than for so many seconds: then the work is cancelled, and its result is dropped.
    /// - Throws: ``ClientError/network`` at the deadline, `CancellationError` where the caller is cancelled; what the work throws.
    static func within<Value: Sendable>(
        _ seconds: TimeInterval, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = AsyncThrowingStream<Value, any Error>.makeStream()
        let worker = Task {
            do {
                outcome.continuation.yield(try await work())
                outcome.continuation.finish()
            } catch { outcome.continuation.finish(throwing: error) }
        }
        let timer = Task {
            try await Task.sleep(nanoseconds: UInt64(max(0, seconds) * 1e9))
            outcome.continuation.finish(throwing: ClientError.network)
        }
        defer {
            worker.cancel()
            timer.cancel()
        }
        for try await value in outcome.stream { return value }
        throw CancellationError()
    }
}
