import AppStorePayloads
public import Base

/// The status that Apple reported for a purchase, always a signed one: `data.status` of a notification. Where the
/// records do not explain it, it decides for a while; where it contradicts them, that is an anomaly. The status in an
/// answer of the Server API carries no signature and becomes no fact.
public struct ReportedStatus: Sendable, Hashable, Comparable {
    /// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    public var status: Int
    /// The outer signedDate of the notification that reported it.
    public var signedAt: Timestamp
    /// From when on it counts: the earliest date that the notification's signed parts carry. Apple signs the parts up to
    /// 1.5 seconds before the whole or some milliseconds after it, and the parts of one notification count together.
    public var asOf: Timestamp

    /// A reported status. By default it counts from `signedAt` on.
    public init(status: Int, signedAt: Timestamp, asOf: Timestamp? = nil) {
        self.status = status
        self.signedAt = signedAt
        self.asOf = asOf ?? signedAt
    }

    /// Whether this release knows what the status means. One that it does not know decides nothing.
    static func isKnown(_ status: Int) -> Bool { (active...revoked).contains(status) }

    /// `data.status` 1.
    static let active = 1
    /// `data.status` 2.
    static let expired = 2
    /// `data.status` 3.
    static let billingRetry = 3
    /// `data.status` 4.
    static let gracePeriod = 4
    /// `data.status` 5.
    static let revoked = 5

    /// The order of signing. Ties within a millisecond are broken by value, so that the order of
    /// arrival never decides.
    public static func < (a: ReportedStatus, b: ReportedStatus) -> Bool {
        (a.signedAt, a.status, a.asOf) < (b.signedAt, b.status, b.asOf)
    }
}
