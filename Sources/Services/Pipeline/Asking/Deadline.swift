/// How long somebody waits for Apple.
enum Deadline {
    /// Does something that waits for Apple, and gives it up at that instant.
    /// - Throws: ``AnswerTrouble/late`` then; what the work throws.
    static func wait<Value: Sendable>(
        until deadline: ContinuousClock.Instant?, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let deadline else { return try await work() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await Task.sleep(until: deadline, clock: .continuous)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw AnswerTrouble.late }
            return value
        }
    }
}
