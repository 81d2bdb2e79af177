/// Does work that may take until an instant.
///
/// At the deadline the work is cancelled. This returns once the work has ended, so work that does not heed its cancellation
/// holds it up.
/// - Parameter deadline: nil for as long as the work takes.
/// - Returns: what the work returned; nil if the deadline came first.
/// - Throws: what the work throws; `CancellationError` if the caller's task was cancelled.
package func withDeadline<Value: Sendable>(
    _ deadline: ContinuousClock.Instant?, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    guard let deadline else { return try await work() }
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(until: deadline, clock: .continuous)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
