import Glibc
import Postgres

extension ChaosCell {
    /// What happens to storehook's own programs and to their connections.
    static let programs = [
        ChaosCell(name: "worker-killed", seconds: 10) { site, _ in
            site.workers[0].signal(SIGKILL)
        },
        ChaosCell(name: "worker-killed-each-second", seconds: 34) { site, _ in
            for round in 0..<30 {
                site.workers[round % 2].signal(SIGKILL)
                try await Task.sleep(for: .seconds(1))
            }
        },
        ChaosCell(name: "worker-paused-past-lease", seconds: 14) { site, _ in
            guard let paused = site.workers[0].id else { throw NeverCameAbout(what: "a worker to pause") }
            kill(paused, SIGSTOP)
            try await Task.sleep(for: .seconds(ChaosSite.leaseSeconds + 3))
            kill(paused, SIGCONT)
        },
        ChaosCell(name: "receiver-killed", seconds: 10) { site, _ in
            site.receiver.signal(SIGKILL)
        },
        ChaosCell(name: "connections-terminated", seconds: 10) { site, _ in
            try await site.database.pool.query(
                """
                select count(pg_terminate_backend(pid)) from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid()
                """)
        },
    ]
}
