extension Worker {
    /// Why the worker is not expected to do its work, for people; nil if it is.
    package var whyNotReady: String? {
        obstacle.map { "the database refuses the worker: \($0)" }
            ?? Self.whyNotReady(sinceLastClaim: sinceLastClaim, lease: lease)
    }

    /// A worker without an answer of the queue for longer than its lease holds nothing any more. Short leases do not
    /// make the check stricter: settling a batch may take seconds until the next look.
    static func whyNotReady(sinceLastClaim: Duration?, lease: Duration) -> String? {
        guard let sinceLastClaim else { return "the worker has not looked at the queue yet" }
        guard sinceLastClaim > max(lease, .seconds(10)) else { return nil }
        return "the worker last looked at the queue \(sinceLastClaim.components.seconds) seconds ago"
    }
}
