package import Events
package import EvidenceStore

/// How a worker works.
package struct WorkerConfiguration: Sendable {
    /// Who it is, for people who look at leases.
    package var name: String
    /// Rows claimed at a time.
    package var batchSize: Int
    /// How long a claim lasts. A batch takes a fraction of a second; this is how long its rows wait if the worker dies.
    package var lease: Duration
    /// When to try again, and when it is enough.
    package var retries: RetryPolicy
    /// The longest wait between two looks at an empty queue; jittered, so that many workers do not look together.
    package var pollInterval: Duration

    /// CPU time of the whole process that one row's verification, or one batch's application, may take before the process
    /// ends itself: a computation cannot be interrupted, and what never ends would hold a core for ever. The usual ones
    /// are a fraction of a millisecond and some milliseconds.
    package var runawayLimit: Duration
    /// How much of what does not verify may come from one address.
    package var junk = JunkLimits()
    /// By what rules is told what changes; nil where it is measured what that costs, and then nothing is written.
    package var telling: TellingRules? = TellingRules()
    /// Called with a row's id on the core that is about to verify it: the place at which a rehearsal of faults can do what
    /// a poisonous payload would.
    package var beforeVerifying: (@Sendable (Int64) -> Void)?

    /// A configuration; a runaway is cut after ten seconds, or a third of a short lease.
    package init(
        name: String, batchSize: Int = 100, lease: Duration = .seconds(60), retries: RetryPolicy = RetryPolicy(),
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
