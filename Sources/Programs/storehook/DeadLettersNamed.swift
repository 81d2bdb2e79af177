import EvidenceStore
import Operations

/// The dead letters that a command names by number or by reason.
enum DeadLettersNamed {
    /// Refuses what nothing can be done about: a letter that there is not, or one that was settled otherwise before.
    /// - Parameter ids: all that were named.
    /// - Parameter done: those that the command has just done.
    /// - Parameter harmless: what a letter may be already, as if the command had been given before.
    static func refuseUnknown(
        _ ids: [Int64], done: [Int64], harmless: Set<DeadLetterResolution>, _ outbox: Outbox
    ) async throws {
        let rest = Set(ids).subtracting(done)
        guard !rest.isEmpty else { return }
        let standing = try await outbox.resolutions(of: Array(rest))
        var faults: [String] = []
        for (resolution, words) in [(DeadLetterResolution.replayed, "replayed"), (.discarded, "discarded")]
        where !harmless.contains(resolution) {
            let those = rest.filter { standing[$0] == resolution }
            if !those.isEmpty {
                faults.append("\(Self.listed(those)) \(those.count == 1 ? "was" : "were") \(words) before")
            }
        }
        let unknown = rest.filter { standing[$0] == nil }
        if !unknown.isEmpty {
            faults.append("there is no dead letter \(Self.listed(unknown)); see storehook dead-letters list")
        }
        if !faults.isEmpty { throw CommandFailure(faults.joined(separator: "; ")) }
    }

    /// Refuses a reason that no open letter has.
    static func refuseUnknown(reason: String, _ outbox: Outbox) async throws {
        let open = try await outbox.deadLetterCounts(DeadLetterFilter())
        guard !open.contains(where: { $0.reason == reason }) else { return }
        let others = open.prefix(10).map { "\($0.count) \($0.reason)" }.joined(separator: ", ")
        throw CommandFailure(
            "no open dead letter has the reason \(reason.prefix(100)); open are: \(others.isEmpty ? "none" : others)")
    }

    private static func listed(_ ids: Set<Int64>) -> String {
        let shown = ids.sorted().prefix(10).map(String.init).joined(separator: ", ")
        return ids.count > 10 ? "\(shown) and \(ids.count - 10) more" : shown
    }
}
