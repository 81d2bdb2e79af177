import Postgres

extension ChaosCell {
    /// The machine of the primary is lost, and the standby takes its place. The programs know the addresses of both.
    static let standbyPromoted = ChaosCell(name: "standby-promoted") { run in
        let clusters = try run.clusters()
        return try await clusters.with { primary in
            try await clusters.withStandby(of: primary) { standby in
                return try await BenchDatabase.with(on: url([primary, standby])) { database in
                    try await primary.query("alter system set synchronous_standby_names = 'standby'")
                    try await primary.query("select pg_reload_conf()")
                    try await patiently("the standby is synchronous", within: .seconds(30)) {
                        try await !primary.query("select 1 from pg_stat_replication where sync_state = 'sync'").isEmpty
                    }
                    // In either order: which of them takes writes is to be found out, now and afterwards.
                    let (receiver, workers) = (url([standby, primary]), url([primary, standby]))
                    return try await ChaosSite.with(
                        database, run.programs, receiver: .init(url: receiver.with("dbname", database.name)),
                        worker: { _ in .init(url: workers.with("dbname", database.name)) }
                    ) { site in
                        try await run.account(site, seconds: 12) { _ in
                            await primary.kill()
                            // For a while there is only a server that takes nothing.
                            try await Task.sleep(for: .seconds(3))
                            try await standby.query("select pg_promote(true, 60)")
                        }
                    }
                }
            }
        }
    }

    /// One connection string for all of them.
    private static func url(_ servers: [ChaosCluster]) -> String {
        "postgresql://storehook@\(servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ","))/postgres"
    }
}
