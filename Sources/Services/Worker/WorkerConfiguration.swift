package import Events
package import EvidenceStore

/// How a worker works.
package struct WorkerConfiguration: Sendable {
    /// Its name, for people who look at leases.
    package var name: String
    /// Rows claimed at a time.
    package var batchSize: Int
    /// How long a claim lasts. A batch takes a fraction of a second; this is how long its rows wait if the worker dies.
    package var lease: Duration
    /// When to retry, and when to give up.
    package var retries: ClaimPolicy
    /// The longest wait between two looks at an empty queue; jittered, so that many workers do not look together.
    package var pollInterval: Duration

    /// CPU time of the whole process that one row's verification, or one batch's application, may take before the
    /// process ends itself: a computation cannot be interrupted, and an endless one would hold a core for ever. Usual
    /// are a fraction of a millisecond and some milliseconds.
    package var runawayLimit: Duration
    /// How much unverifiable input one address may post.
    package var junk = JunkLimits()
    /// The rules for events; nil writes none, for measuring what events cost.
    package var events: EventRules? = EventRules()
    /// The shortest time between two lines of the log about applied notifications.
    package var lineInterval = Duration.seconds(1)
    /// Called with a row's id on the core that is about to verify it: fault tests do here what a poisonous payload
    /// would.
    package var beforeVerifying: (@Sendable (Int64) -> Void)?

    /// A configuration; the limit for runaways is ten seconds, or a third of a short lease.
    package init(
        name: String, batchSize: Int = 100, lease: Duration = .seconds(60), retries: ClaimPolicy = ClaimPolicy(),
        pollInterval: Duration = .seconds(1), beforeVerifying: (@Sendable (Int64) -> Void)? = nil
    ) {
        self.name = name
        self.batchSize = batchSize
        self.lease = lease
        self.retries = retries
        self.pollInterval = pollInterval
        runawayLimit = min(.seconds(10), lease / 3)
        self.beforeVerifying = beforeVerifying
    }
}
