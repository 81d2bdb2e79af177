package import Base

/// How a worker delivers events.
package struct WebhookConfiguration: Sendable {
    /// Its name, for people who look at leases.
    package var name: String
    /// How long the lease of a lane lasts: longer than a call may take.
    package var lease: Duration
    /// When to retry, and when to give up.
    package var schedule: RetrySchedule
    /// The longest wait between two looks for work; jittered, so that many workers do not look together.
    package var pollInterval: Duration
    /// The wait between two looks while there is work.
    package var busyInterval: Duration

    /// The shortest lease that leaves time for a call and for settling it.
    package static let leastLease = Duration.seconds(30)

    /// A configuration.
    package init(
        name: String, lease: Duration = .seconds(60), schedule: RetrySchedule = .deliveries,
        pollInterval: Duration = .milliseconds(500), busyInterval: Duration = .milliseconds(20)
    ) {
        self.name = name
        self.lease = lease
        self.schedule = schedule
        self.pollInterval = pollInterval
        self.busyInterval = busyInterval
    }
}
