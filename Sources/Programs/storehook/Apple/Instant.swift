import AppStorePayloads
import ArgumentParser
import Base

/// An instant on the command line.
struct Instant: ExpressibleByArgument {
    let timestamp: Timestamp

    init?(argument: String) {
        guard let timestamp = Timestamp(iso8601: argument) else { return nil }
        self.timestamp = timestamp
    }
}
