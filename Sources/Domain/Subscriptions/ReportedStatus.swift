public import AppStorePayloads

/// Apple's own status of a line (`data.status`) at a notification's signedDate: a hint where renewal info is silent, and
/// an oracle for tests.
public struct ReportedStatus: Sendable, Hashable {
    /// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    public var status: Int
    /// The outer signedDate.
    public var signedAt: Timestamp

    /// A reportedStatus.
    public init(status: Int, signedAt: Timestamp) {
        self.status = status
        self.signedAt = signedAt
    }

    /// Whether this reportedStatus takes the other's place. Two of the same millisecond are told apart by their value, so that
    /// the order of arrival never decides.
    public func supersedes(_ other: ReportedStatus) -> Bool {
        (signedAt, status) > (other.signedAt, other.status)
    }

    /// `data.status` 4.
    public static let gracePeriod = 4
}
