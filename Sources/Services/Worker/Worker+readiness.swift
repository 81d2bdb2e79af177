extension Worker {
    /// Why the worker cannot be expected to do its work, for people; nil if it can.
    package var whyNotReady: String? {
        obstacle.map { "the database refuses the worker: \($0)" }
            ?? Self.whyNotReady(sinceLastClaim: sinceLastClaim, lease: lease)
    }

    /// One that has not been answered by the queue for longer than its lease holds nothing any more. Shorter leases do not
    /// make it more suspicious: who settles a batch may take seconds until the next look.
    static func whyNotReady(sinceLastClaim: Duration?, lease: Duration) -> String? {
        guard let sinceLastClaim else { return "the worker has not looked at the queue yet" }
        guard sinceLastClaim > max(lease, .seconds(10)) else { return nil }
        return "the worker last looked at the queue \(sinceLastClaim.components.seconds) seconds ago"
    }
}
