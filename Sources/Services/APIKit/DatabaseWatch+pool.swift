package import Logging
package import Postgres

extension DatabaseWatch {
    /// The configuration for a watch's own pool of one connection: all its timeouts are short.
    package static func configuration(like configuration: PostgresConfiguration) -> PostgresConfiguration {
        var configuration = configuration
        let limit = Duration.milliseconds(500)
        configuration.connectTimeout = min(configuration.connectTimeout, limit)
        (configuration.acquireTimeout, configuration.queryTimeout) = (limit, limit)
        configuration.cancelGracePeriod = .milliseconds(50)
        return configuration
    }

    /// A watch that asks through a pool of its own, configured by ``configuration(like:)``.
    ///
    /// A server that refuses, because it has no connection left or is being stopped, is not silent: the requests' own
    /// statements get its errors.
    package convenience init(_ pool: PostgresPool, logger: Logger) {
        self.init(logger: logger) {
            do {
                try await pool.query(PostgresQuery("watch", "select 1"))
            } catch let error as PostgresError where error.sqlState != nil {
                return
            }
        }
    }
}
