extension ChaosCell {
    /// The network of one worker's machine fails for longer than its lease. The other worker does its work. When the
    /// first is back and still believes it holds its claims, it does no harm.
    static let networkCut = ChaosCell(name: "network-cut") { run in
        let clusters = try run.clusters()
        return try await ChaosNetwork.with(members: 2, log: run.programs.log) { network in
            try await clusters.with(addresses: [network.address], network: network.range) { cluster in
                try await BenchDatabase.with(on: cluster.url) { database in
                    let url = database.url.with("host", network.address)
                    return try await ChaosSite.with(
                        database, run.programs, receiver: .init(url: database.url),
                        worker: { .init(url: url, command: network.command(of: $0)) }
                    ) { site in
                        try await run.account(site, seconds: 18) { site in
                            try await network.cut(0)
                            let start = ContinuousClock.now
                            // What is posted now is done by the remaining worker.
                            _ = try await site.untilServing()
                            try await Task.sleep(until: start + .seconds(ChaosSite.leaseSeconds + 5))
                            try await network.join(0)
                        }
                    }
                }
            }
        }
    }
}
