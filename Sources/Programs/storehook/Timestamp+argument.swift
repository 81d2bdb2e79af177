import AppStorePayloads
import ArgumentParser
import Base

extension Timestamp {
    /// Reads an instant of the command line.
    static func argument(_ text: String) throws -> Timestamp {
        guard let instant = Timestamp(iso8601: text) else {
            throw ValidationError("it is a date like 2026-01-31 or 2026-01-31T12:00:00Z")
        }
        return instant
    }
}
