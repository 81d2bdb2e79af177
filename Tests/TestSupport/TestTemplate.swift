/// A database that is prepared once in a process, for instance by all migrations, and then copied for each test, which
/// is much faster. Keep it in a `static let`.
public actor TestTemplate {
    private let base: TestTemplate?
    private let prepare: @Sendable (TestDatabase) async throws -> Void
    private var made: Task<TestDatabase, any Error>?

    /// A template that `prepare` fills; it must have closed its connections when it returns.
    /// - Parameter base: What it begins as a copy of; without one it begins empty.
    public init(
        from base: TestTemplate? = nil, prepare: @escaping @Sendable (TestDatabase) async throws -> Void
    ) {
        self.base = base
        self.prepare = prepare
    }

    /// The prepared database; who comes first prepares it and the others wait for that.
    func database(on server: TestServer) async throws -> TestDatabase {
        if let made { return try await made.value }
        let task = Task { [base, prepare] in
            let database = try await server.create(from: base)
            try await prepare(database)
            return database
        }
        made = task
        return try await task.value
    }
}
