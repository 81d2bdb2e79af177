import Base
import EvidenceStore
import Operations
import Postgres

/// The dead letters that a command names by number or by reason.
enum DeadLettersNamed {
    /// Refuses what nothing can be done about: a letter that there is not, or one that was settled before.
    /// - Parameter ids: all that were named.
    /// - Parameter done: those that the command has just done.
    static func refuseUnknown(_ ids: [Int64], done: [Int64], _ outbox: Outbox) async throws {
        let rest = Set(ids).subtracting(done)
        guard !rest.isEmpty else { return }
        let standing = try await outbox.standings(of: Array(rest))
        var faults: [String] = []
        for (resolution, words) in [(DeadLetterResolution.replayed, "replayed"), (.discarded, "discarded")] {
            let those = rest.filter { standing[$0]?.resolution == resolution }
            guard let first = those.min(), let how = standing[first] else { continue }
            guard those.count == 1 else {
                faults.append("\(Self.listed(those)) were \(words) before, see storehook dead-letters show \(first)")
                continue
            }
            let when = how.resolvedAt.map { " (\(Timestamp($0)), by \(how.resolvedBy ?? "-"))" } ?? ""
            let now = how.openAs.map { " and is dead again as \($0)" } ?? ""
            faults.append(
                "\(first) was \(words) before\(when)\(now), see storehook dead-letters show \(how.openAs ?? first)")
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
