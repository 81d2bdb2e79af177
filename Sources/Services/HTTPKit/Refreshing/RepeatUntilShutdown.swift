import ServiceLifecycle

/// Does something at once and again after each pause, until graceful shutdown. Then the step or the pause under way is cancelled.
/// - Parameters:
///   - pause: the time between the end of a step and the next step; asked after each step.
///   - sleep: how a pause is waited for.
package func repeatUntilShutdown(
    pause: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    _ step: @escaping @Sendable () async -> Void
) async {
    await cancelWhenGracefulShutdown {
        while !Task.isCancelled {
            await step()
            try? await sleep(pause())
        }
    }
}
