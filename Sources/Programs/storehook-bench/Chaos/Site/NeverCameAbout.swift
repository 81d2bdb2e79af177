/// Something that had to come about and did not.
struct NeverCameAbout: Error, CustomStringConvertible {
    let what: String
    var description: String { "this never came about: \(what)" }
}

/// Looks until `condition` holds; a look that fails, because the database is unavailable, is a look all the same.
func patiently(
    _ what: String, within limit: Duration, _ condition: @Sendable () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while (try? await condition()) != true {
        guard ContinuousClock.now < end else { throw NeverCameAbout(what: what) }
        try await Task.sleep(for: .milliseconds(20))
    }
}
