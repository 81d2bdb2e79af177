import Foundation

/// Runs blocking code on a thread of its own: the threads of Swift's tasks are as few as the machine's cores, and a task that blocks them stops
/// the very program that the test waits for.
public func onThread<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result(catching: work)) }
    }
}
