public import Metrics

/// Is called with what a server does with its connections.
public struct HTTPServerObserver: Sendable {
    /// The limit that a sender met.
    public enum Limit: String, Sendable, CaseIterable {
        /// There were as many connections as there may be: one yielded, or the new one was refused.
        case connections
        /// One address held as many connections as it may: one of its own yielded, or the new one was refused.
        case party = "address"
        /// It sent nothing for as long as it may.
        case silence
        /// Its head, or the framing of its body, was longer than any client's.
        case head
        /// Unanswered requests held as many bytes as they may: one yielded, or was refused.
        case bytes
        /// It sent more requests than may wait for their answers.
        case requests
        /// A request did not arrive in time, or its answer was not read.
        case time
    }

    /// Goes up and down with the connections that are open.
    public var open: Meter?
    /// Called for each connection that was refused or cut off, from any thread.
    public var limited: @Sendable (Limit) -> Void

    /// An observer.
    public init(open: Meter? = nil, limited: @escaping @Sendable (Limit) -> Void = { _ in }) {
        self.open = open
        self.limited = limited
    }
}
