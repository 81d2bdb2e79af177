package import Base

extension RetrySchedule {
    /// For a connection that was lost.
    package static let reconnecting = doubling(from: .milliseconds(50), upTo: .seconds(1))
}
