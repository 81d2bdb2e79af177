/// Something a test waited for did not come about.
public struct NeverHappened: Error, CustomStringConvertible {
    /// What was waited for.
    public let what: String

    /// Says what never happened.
    public init(_ what: String) { self.what = what }

    /// One line.
    public var description: String { "this never happened: \(what)" }
}

/// Looks again and again until `condition` holds, at first every 10 ms, and less often the longer it takes, up to every 60 ms: what looks
/// takes from what is waited for.
///
/// The only place where tests wait for something they are not told of. How long it takes proves nothing; the deadline
/// only keeps a broken program from hanging the suite.
///
/// - Throws: ``NeverHappened`` at the deadline, or what `condition` throws.
public func eventually(
    _ what: String,
    within deadline: Duration = .seconds(60),
    isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + deadline
    var pause = Duration.milliseconds(10)
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NeverHappened(what) }
        try await Task.sleep(for: pause)
        pause = min(pause * 5 / 4, .milliseconds(60))
    }
}
