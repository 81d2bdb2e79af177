package import Base

/// A store whose state monitoring and the doctor look at. It is read from one table or view, which not every role may read: who
/// looks asks ``DatabaseRights`` before.
package protocol MonitoredStore: Sendable {
    /// That table or view, in schema storehook.
    static var monitored: String { get }

    /// The state as samples, the same for every process that reads it.
    /// - Throws: `PostgresError`.
    func samples() async throws -> [MetricSample]
}
