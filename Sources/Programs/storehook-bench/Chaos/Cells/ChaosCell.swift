/// One thing that goes wrong while notifications come in.
struct ChaosCell: Sendable {
    let name: String
    /// Puts up what it needs, breaks it, and accounts for every notification.
    ///
    /// - Throws: ``ChaosObstacle`` where that is not possible here.
    let play: @Sendable (ChaosRun) async throws -> ChaosOutcome

    /// In the order of playing: first what touches the programs alone.
    static let all =
        programs + [
            logCollectorStuck, connectionsExhausted, crashed, stopped, readOnly, diskFull, synchronousStandbyAway,
        ]
        + [standbyPromoted, backupRestored, notifyQueueFull, grantsRevoked, networkCut, poison] + refusals + [
            refusedAlone
        ]
}

extension ChaosCell {
    /// What a cell can do only to a server of the run's own, and what only to one that lies alone on a volume.
    enum Need: Sendable { case nothing, server, volume }

    /// One that plays out in a database on the server of the run.
    /// - Parameters:
    ///   - seconds: how long notifications are posted.
    ///   - fault: breaks something, and returns when that is over.
    init(
        name: String, need: Need = .nothing, seconds: Int,
        fault: @escaping @Sendable (ChaosSite, ChaosServer) async throws -> Void
    ) {
        self.init(name: name) { run in
            guard need == .nothing || run.server.isOurs else {
                throw ChaosObstacle(why: "needs a server of its own: deploy/chaos")
            }
            guard need != .volume || run.server.volume != nil else {
                throw ChaosObstacle(why: "needs a volume of its own: deploy/chaos, as root")
            }
            return try await BenchDatabase.with { database in
                try await ChaosSite.with(database, run.programs) { site in
                    try await run.account(site, seconds: seconds) { try await fault($0, run.server) }
                }
            }
        }
    }
}
