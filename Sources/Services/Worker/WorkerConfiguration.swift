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

    /// CPU seconds of the whole process that one row's verification, or one batch's application, may take before the
    /// process ends itself: a computation cannot be interrupted, and what never ends would hold a core for ever. The usual
    /// ones are a fraction of a millisecond and some milliseconds.
    public var runawaySeconds: Double
    /// Called with a row's id on the core that is about to verify it: the place at which a dryRun of faults can do what
    /// a poisonous payload would.
    public var beforeVerifying: (@Sendable (Int64) -> Void)?

    /// A configuration; a runaway is cut after ten seconds, or a third of a short lease.
    public init(
        name: String, batchSize: Int = 100, leaseSeconds: Int = 60, retries: RetryPolicy = RetryPolicy(),
        pollInterval: Duration = .seconds(1), beforeVerifying: (@Sendable (Int64) -> Void)? = nil
    ) {
        self.name = name
        self.batchSize = batchSize
        self.leaseSeconds = leaseSeconds
        self.retries = retries
        self.pollInterval = pollInterval
        runawaySeconds = min(10, Double(leaseSeconds) / 3)
        self.beforeVerifying = beforeVerifying
    }
}
