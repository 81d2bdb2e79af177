package import Foundation
import Postgres

extension History {
    /// How many of these came out of Apple's history before they came in any other way: lost on their way, and fetched. What still
    /// waits for a worker is not among them.
    package func recovered(among notifications: [UUID]) async throws -> Int {
        guard !notifications.isEmpty else { return 0 }
        return try await Int(
            pool.query(
                PostgresQuery(
                    "history.recovered",
                    """
                    select count(*)
                      from unnest(\(notifications)) as w (uuid)
                      join storehook.notifications n on n.notification_uuid = w.uuid
                     where n.source = 'history'
                    """)
            ).one().decode(0, as: Int64.self))
    }
}
