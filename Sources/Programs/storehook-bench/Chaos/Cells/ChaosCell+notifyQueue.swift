extension ChaosCell {
    /// No NOTIFY succeeds any more. What is posted is stored all the same, and workers find it by looking.
    static let notifyQueueFull = ChaosCell(name: "notify-queue-full") { run in
        // 8 GB of notifications, and something to spare.
        try await run.clusters(gigabytes: 12).with { cluster in
            try await BenchDatabase.with(on: cluster.url) { database in
                try await ChaosSite.with(database, run.programs) { site in
                    // All of it while the queue is full; it is nothing that has to pass before they go on.
                    try await NotifyQueue(cluster: cluster).whileFull {
                        try await run.account(site, seconds: 12) { _ in }
                    }
                }
            }
        }
    }
}
