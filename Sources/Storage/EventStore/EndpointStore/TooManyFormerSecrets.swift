import Base
package import Postgres

/// An endpoint has ``EndpointStore/mostFormerSecrets`` former secrets already, and all of them still sign.
package struct TooManyFormerSecrets: Error, Sendable, Hashable, CustomStringConvertible {
    /// The endpoint.
    package var endpointID: Int64
    /// When the first of them ends.
    package var firstEndsAt: PostgresTimestamp?

    /// Memberwise.
    package init(endpointID: Int64, firstEndsAt: PostgresTimestamp?) {
        self.endpointID = endpointID
        self.firstEndsAt = firstEndsAt
    }

    /// What it is, and what to do.
    package var description: String {
        let end = firstEndsAt.map { " (\(Timestamp($0)))" } ?? ""
        return
            "endpoint \(endpointID) has \(EndpointStore.mostFormerSecrets) former secrets that sign as well, and keeps its secret: "
            + "rotate it once the first of them has ended\(end), or with --at-once, which ends all of them"
    }
}
