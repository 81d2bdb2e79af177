/// How a worker delivers.
package struct WebhookConfiguration: Sendable {
    /// Who it is, for people who look at leases.
    package var name: String
    /// How long a claim of lanes lasts: longer than a call may take.
    package var lease: Duration
    /// When to try again, and when it is enough.
    package var schedule: DeliverySchedule
    /// The longest wait between two looks at what there is to do; jittered, so that many workers do not look together.
    package var pollInterval: Duration
    /// The wait between two looks while there is something to do.
    package var busyInterval: Duration

    /// The shortest lease that leaves time for a call and for settling it.
    package static let leastLease = Duration.seconds(30)

    /// A configuration.
    package init(
        name: String, lease: Duration = .seconds(60), schedule: DeliverySchedule = DeliverySchedule(),
        pollInterval: Duration = .milliseconds(500), busyInterval: Duration = .milliseconds(20)
    ) {
        self.name = name
        self.lease = lease
        self.schedule = schedule
        self.pollInterval = pollInterval
        self.busyInterval = busyInterval
    }
}
