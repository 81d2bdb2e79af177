import AppStorePayloads
import ArgumentParser
import Base

/// The instant that an answer is about.
struct PastOptions: ParsableArguments {
    /// Nil for now.
    @Option(
        help: "What there was at this instant, as it stood then, ISO 8601 in UTC; what there is by default.",
        transform: Timestamp.argument)
    var at: Timestamp?
}
