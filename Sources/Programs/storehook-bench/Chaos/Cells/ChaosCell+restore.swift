import Glibc
import Postgres
import Synchronization

extension ChaosCell {
    /// A backup is restored that knows nothing of the headers by which the programs, which run on, have begun to pack.
    static let backupRestored = ChaosCell(name: "backup-restored") { run in
        try await BenchDatabase.with { database in
            // Taken before anything was posted; what is restored then has only what comes afterwards.
            try await database.copied { backup in
                try await ChaosSite.with(database, run.programs) { site in
                    try await pack(site, run)
                    try await database.restore(backup)
                    site.probes.store(0, ordering: .relaxed)
                    // The load begins at once, and meets whatever the programs remember.
                    return try await run.account(site, seconds: 12) { _ in }
                }
            }
        }
    }

    /// Posts until the receiver stores without the headers that it has learned.
    private static func pack(_ site: ChaosSite, _ run: ChaosRun) async throws {
        _ = try await run.programs.load(100, perSecond: 100, seed: run.seed + 1).outcome()
        try await patiently("the workers have kept headers", within: .seconds(60)) {
            try await site.database.pool.query("select 1 from storehook.signature_headers").count > 0
        }
        // A receiver asks for headers when it starts, and then only now and then.
        site.receiver.signal(SIGKILL)
        _ = try await site.untilServing()
        _ = try await run.programs.load(100, perSecond: 100, seed: run.seed + 2).outcome()
        try await patiently("the receiver packs", within: .seconds(60)) {
            try await site.database.pool.query("select 1 from storehook.outbox where packing <> 0").count > 0
        }
        try await site.untilDone()
    }
}
