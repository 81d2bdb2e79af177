import Postgres

/// The databases of this process's tests: copies are made ahead of the test that will ask for them, and dropped behind the one
/// that had them, so that no test waits for either.
///
/// Beside templates, a process has at most four that no test has at the moment, because a database takes some 8 MB.
actor DatabaseSupply {
    private static let mostReady = 2
    private static let mostLeft = 2

    private let make: @Sendable (TestTemplate?) async throws -> TestDatabase
    private let remove: @Sendable (TestDatabase) async throws -> Void
    /// The template that was asked for last: suites run one after the other, and a suite asks for one.
    private var template: TestTemplate?
    private var ready: [Task<TestDatabase, any Error>] = []
    private var left = 0
    private var lastRemoval: Task<Void, Never>?

    /// - Parameters:
    ///   - make: makes a copy of a template, or an empty one.
    ///   - remove: drops one.
    init(
        make: @escaping @Sendable (TestTemplate?) async throws -> TestDatabase,
        remove: @escaping @Sendable (TestDatabase) async throws -> Void
    ) {
        self.make = make
        self.remove = remove
    }

    /// A copy of a template, or an empty database.
    func take(_ wanted: TestTemplate?) async throws -> TestDatabase {
        guard let wanted else { return try await make(nil) }
        guard wanted === template else {
            // A template that is asked for once may not be asked for again: from the second time on copies are made ahead.
            let unused = ready
            (template, ready) = (wanted, [])
            for task in unused { if let database = try? await task.value { await leave(database) } }
            return try await make(wanted)
        }
        let next = ready.isEmpty ? nil : ready.removeFirst()
        while ready.count < Self.mostReady { ready.append(Task { [make] in try await make(wanted) }) }
        // What failed ahead of a test is no fault of the test's.
        if let next, let database = try? await next.value { return database }
        return try await make(wanted)
    }

    /// Takes one back that a test has had, and drops it soon.
    func leave(_ database: TestDatabase) async {
        left += 1
        let removal = Task { [remove, lastRemoval] in
            await lastRemoval?.value
            do { try await remove(database) } catch { print("\(database.name) could not be dropped: \(error)") }
            left -= 1
        }
        lastRemoval = removal
        if left > Self.mostLeft { await removal.value }
    }
}
