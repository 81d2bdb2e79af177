import AppStorePayloads
import ArgumentParser
import Base

/// By what an instant is judged.
struct KnowledgeOptions: ParsableArguments {
    /// Nil for all that is known now.
    @Option(
        help: "By what had been applied by this instant, ISO 8601 in UTC; by all that is known now by default.",
        transform: Timestamp.argument)
    var knownAt: Timestamp?
}
