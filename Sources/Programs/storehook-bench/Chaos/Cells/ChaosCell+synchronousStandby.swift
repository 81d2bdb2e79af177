import Postgres
import Synchronization

extension ChaosCell {
    /// Commits wait for a standby that is not there. Nothing may be acknowledged that this server alone holds.
    static let synchronousStandbyAway = ChaosCell(
        name: "synchronous-standby-away", need: .server, seconds: 18
    ) { site, _ in
        let (_, text) = try site.programs.probe(site.probes.add(1, ordering: .relaxed).newValue)
        try await site.database.whileServer("synchronous_standby_names", is: "absent") {
            // The setting is in force once every server process has received it, one after the other.
            try await patiently("a commit waits for the standby", within: .seconds(20)) {
                try await site.database.pool.query("select 1 from pg_stat_activity where wait_event = 'SyncRep'").count
                    > 0
            }
            // What was committed before is being answered.
            try await Task.sleep(for: .milliseconds(500))
            let before = try await stored(site)
            let end = ContinuousClock.now + .seconds(10)
            while ContinuousClock.now < end {
                if await site.programs.post(text) == 200 { site.complain("a sender got 200 without the standby") }
                try await Task.sleep(for: .milliseconds(500))
            }
            let acknowledged = try await stored(site) - before
            if acknowledged > 0 { site.complain("\(acknowledged) posts were answered 200 without the standby") }
        }
        try await patiently("what was refused is taken", within: .seconds(60)) {
            await site.programs.post(text) == 200
        }
    }

    /// Posts that the receiver has answered 200.
    private static func stored(_ site: ChaosSite) async throws -> Int {
        let page = try await MetricsPage(port: site.programs.metricsPort)
        guard let stored = page["storehook_received_total{outcome=\"stored\"}"] else {
            throw NeverCameAbout(what: "the receiver's count of what it stored")
        }
        return Int(stored)
    }
}
