public import Outbox

/// How a worker works.
public struct WorkerConfiguration: Sendable {
    /// Who it is, for people who look at leases.
    public var name: String
    /// Rows claimed at a time.
    public var batchSize: Int
    /// How long a claim lasts, in seconds. A batch takes a fraction of a second; this is how long its rows wait if the
    /// worker dies.
    public var leaseSeconds: Int
    /// When to try again, and when it is enough.
    public var retries: RetryPolicy
    /// The longest wait between two looks at an empty queue; jittered, so that many workers do not look together.
    public var pollInterval: Duration

    /// A configuration.
    public init(
        name: String, batchSize: Int = 100, leaseSeconds: Int = 60, retries: RetryPolicy = RetryPolicy(),
        pollInterval: Duration = .seconds(1)
    ) {
        self.name = name
        self.batchSize = batchSize
        self.leaseSeconds = leaseSeconds
        self.retries = retries
        self.pollInterval = pollInterval
    }
}
