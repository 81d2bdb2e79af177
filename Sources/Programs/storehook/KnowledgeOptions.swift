import AppStorePayloads
import ArgumentParser
import Base

/// By what an instant is judged.
struct KnowledgeOptions: ParsableArguments {
    @Option(
        help: "By what had been applied by this instant, ISO 8601 in UTC; by all that is known now by default.")
    var knownAt: String?

    func validate() throws {
        if knownAt != nil, instant == nil {
            throw ValidationError("--known-at takes a date like 2026-01-31 or 2026-01-31T12:00:00Z")
        }
    }

    /// Nil for all that is known now.
    var instant: Timestamp? { knownAt.flatMap { Timestamp(iso8601: $0) } }
}
