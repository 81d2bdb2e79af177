import EvidenceStore
import Foundation
import Postgres
import Simulation

/// A change of the database by which it refuses genuine notifications, and what takes the change back.
private struct Refusal: Sendable {
    let name: String
    /// Whether nothing at all can be settled meanwhile.
    var isTotal = true
    var need = ChaosCell.Need.nothing
    let fault: String
    let repair: String
}

extension ChaosCell {
    /// The database refuses to have notifications settled for a minute. They come in at a third of what the workers drain. Nothing is
    /// buried for it, the workers' readiness says whether anything is settled, and a minute after the end all is applied.
    static let refusals = [
        Refusal(
            name: "trigger-refuses",
            fault: """
                create function storehook.audit() returns trigger language plpgsql as $$ begin
                    raise exception 'the audit log is full';
                end $$;
                create trigger audit before insert on storehook.notifications for each row execute function storehook.audit();
                """,
            repair: "drop function storehook.audit() cascade"),
        Refusal(
            name: "trigger-refuses-some", isTotal: false,
            fault: """
                create function storehook.audit() returns trigger language plpgsql as $$ begin
                    if get_byte(uuid_send(new.notification_uuid), 15) % 4 = 0 then raise exception 'the audit log is full'; end if;
                    return new;
                end $$;
                create trigger audit before insert on storehook.notifications for each row execute function storehook.audit();
                """,
            repair: "drop function storehook.audit() cascade"),
        Refusal(
            name: "constraint-refuses",
            fault: "alter table storehook.notifications add constraint nothing_new check (outcome = 'lost') not valid",
            repair: "alter table storehook.notifications drop constraint nothing_new"),
        Refusal(
            // As a user PostgreSQL takes for its superuser.
            name: "publication-refuses", need: .server,
            fault: """
                alter table storehook.outbox_queue replica identity nothing;
                create publication everything for all tables;
                """,
            repair: """
                drop publication everything;
                alter table storehook.outbox_queue replica identity default;
                """),
    ].map { refusal in
        ChaosCell(name: refusal.name) { run in
            guard refusal.need == .nothing || run.server.isOurs else {
                throw ChaosObstacle(why: "needs a server of its own: deploy/chaos")
            }
            let rate = max(10, Int(try await drained(run) / 3))
            let run = ChaosRun(
                programs: run.programs, server: run.server, clusters: run.clusters, roles: run.roles, rate: rate,
                seed: run.seed)
            return try await BenchDatabase.with { database in
                let ports = try [ChaosPrograms.freePort(), ChaosPrograms.freePort()]
                return try await ChaosSite.with(
                    database, run.programs,
                    worker: { ChaosSite.Access(url: database.url, metricsPort: ports[$0]) }
                ) { site in
                    try await run.account(site, seconds: seconds + 20) {
                        try await play(refusal, $0, ports: ports)
                    }
                }
            }
        }
    }

    /// How long it refuses.
    private static let seconds = 60

    private static func play(_ refusal: Refusal, _ site: ChaosSite, ports: [Int]) async throws {
        func script(_ text: String) async throws {
            try await site.database.pool.withTransaction { try $0.executeScript(text) }
        }
        try await script(refusal.fault)
        do {
            var wrong = 0
            for second in 1...seconds {
                try await Task.sleep(for: .seconds(1))
                // Work under way is finished, and what nothing is settled of has to be tried first.
                guard second > 15 || !refusal.isTotal else { continue }
                for port in ports where await site.programs.isReady(metricsPort: port) == refusal.isTotal { wrong += 1 }
            }
            if wrong > 0 {
                site.complain("\(wrong) times a worker said that it is \(refusal.isTotal ? "ready" : "not ready")")
            }
        } catch {
            try await script(refusal.repair)
            throw error
        }
        try await script(refusal.repair)
        let clock: PostgresQuery = "select clock_timestamp()"
        let end: PostgresTimestamp = try await site.database.pool.query(clock).one().decode(0)
        do {
            try await patiently("all of it is applied", within: .seconds(60)) {
                try await site.database.pool.query(
                    "select 1 from storehook.outbox_queue where received_at < \(end) limit 1"
                ).isEmpty
            }
        } catch is NeverCameAbout {
            site.complain("a minute after the end some of what came before is not applied")
        }
    }

    /// How many notifications two workers drain in a second.
    private static func drained(_ run: ChaosRun) async throws -> Double {
        try await BenchDatabase.with { database in
            let outbox = Outbox(database.pool)
            let simulation = Simulation(
                seed: UInt64(run.seed), notifications: backlog,
                endingAt: Milliseconds(Int64(Date().timeIntervalSince1970 * 1000)))
            let bodies = simulation.signedDeliveries(by: run.programs.authority).map { Array($0.utf8) }
            return try await ChaosSite.with(database, run.programs) { site in
                // Both run by then.
                _ = try await site.untilServing()
                let start = ContinuousClock.now
                for place in stride(from: 0, to: bodies.count, by: 500) {
                    try await outbox.store(Array(bodies[place..<min(place + 500, bodies.count)]))
                }
                try await patiently("the backlog is drained", within: .seconds(120)) {
                    try await outbox.queue.pending() == 0
                }
                return Double(bodies.count) / ((ContinuousClock.now - start) / .seconds(1))
            }
        }
    }

    private static let backlog = 4000
}

extension ChaosCell {
    /// One notification that the database refuses by a code that a row may be to blame for, while no other comes: it has its attempts,
    /// and is buried.
    static let refusedAlone = ChaosCell(name: "refused-alone") { run in
        let attempts = 4
        return try await BenchDatabase.with { database in
            try await ChaosSite.with(
                database, run.programs,
                worker: { _ in .init(url: database.url, settings: ["STOREHOOK_MAX_ATTEMPTS": "\(attempts)"]) }
            ) { site in
                try await database.pool.withTransaction { session in
                    try session.executeScript(
                        """
                        create function storehook.refuse() returns trigger language plpgsql as $$ begin
                            raise exception 'refused' using errcode = 'string_data_right_truncation';
                        end $$;
                        create trigger refuse before insert on storehook.notifications
                           for each row execute function storehook.refuse();
                        """)
                }
                let start = ContinuousClock.now
                let (_, text) = try run.programs.probe(0)
                let isStored = await run.programs.post(text) == 200
                try await site.untilDone()
                var outcome = ChaosOutcome(posted: 1, acknowledged: isStored ? 1 : 0)
                outcome.secondsToRecover = (ContinuousClock.now - start) / .seconds(1)
                let letters = try await site.outbox.deadLetters(DeadLetterFilter(), limit: 10)
                let places = try await site.outbox.conservation()
                outcome.dead = Int(places.dead)
                outcome.poisonous = 1
                outcome.lost = Int(places.missing)
                outcome.doubled = Int(places.doubled)
                if letters.map({ "\($0.reason) \($0.attempts)" }) != ["sqlstate_22001 \(attempts)"] {
                    site.complain("the letter does not say what became of it")
                }
                outcome.complaints = site.noted
                return outcome
            }
        }
    }
}
