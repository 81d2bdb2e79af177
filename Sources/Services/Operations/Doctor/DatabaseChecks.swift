import AppleRecords
import EventStore
import EvidenceStore
import Foundation
package import Postgres
import PurchaseStore
import Subscriptions

/// What can be told from the database, each question bounded in time.
package struct DatabaseChecks: Sendable {
    let pool: PostgresPool
    private let migrator: Migrator
    private let role: DatabaseRole?
    let transactionAge: Duration
    let configuration: PostgresConfiguration
    let storeDeadline: Duration

    /// Checks of a database.
    /// - Parameters:
    ///   - migrator: knows the schema that the program was built for.
    ///   - configuration: how the database is reached.
    ///   - storeDeadline: how long a receiver waits for a commit.
    ///   - role: what the user must be allowed to be; without one, a receiver or a worker.
    ///   - transactionAge: for how long a transaction may keep dead rows from being removed.
    package init(
        pool: PostgresPool, migrator: Migrator, configuration: PostgresConfiguration, storeDeadline: Duration,
        role: DatabaseRole?, transactionAge: Duration
    ) {
        self.pool = pool
        self.migrator = migrator
        self.configuration = configuration
        self.storeDeadline = storeDeadline
        self.role = role
        self.transactionAge = transactionAge
    }

    /// What a connection's `queryTimeout` should be: nobody waits for the doctor for long.
    package static let queryTimeout = Duration.seconds(5)
    /// The checks, in their order.
    package static let names = [
        "database", "schema", "rights", "hosts", "replication", "clock", "date style", "disk", "vacuum horizon",
        "notices",
        "partitions", "queue", "evidence", "dead letters", "anomalies", "history", "canary", "extensions",
        "consumption requests", "events", "endpoints",
    ]
    /// How far clocks may be apart; NTP keeps them within milliseconds.
    private static let clockTolerance = Duration.seconds(5)
    /// How long the oldest notification may wait before somebody should ask where the workers are.
    private static let queueTolerance = Duration.seconds(300)

    /// A finding for each of ``names``.
    package func findings() async -> [Finding] {
        var database = Finding.ok("database", "reached \(configuration)")
        do {
            _ = try await survey.user()
        } catch {
            database = .failed("database", "\(error): is the server running, and is DATABASE_URL right?")
        }
        guard database.status == .ok else {
            return [database] + Self.names.dropFirst().map { .skipped($0, "no database to ask") }
        }
        let schema = await self.schema()
        let surveyed = await rights()
        var findings = [database, schema, await rights(surveyed), await hosts(), await replication()]
        findings += [await clock(), await dateStyle(), await disk(), await horizon(), await notices()]
        let rest: [(String, reads: String?, () async throws -> Finding)] = [
            ("partitions", nil, partitions), ("queue", nil, queue), ("evidence", nil, evidence),
            ("dead letters", nil, deadLetters), ("anomalies", LedgerReader.monitored, anomalies),
            ("history", History.monitored, history), ("canary", Canaries.monitored, canary),
            ("extensions", RenewalExtensions.monitored, extensions),
            ("consumption requests", ConsumptionRequests.monitored, consumption),
            ("events", EventStore.monitored, events), ("endpoints", EndpointStore.monitored, endpoints),
        ]
        for (name, relation, body) in rest {
            guard schema.status == .ok else {
                findings.append(.skipped(name, "see schema"))
                continue
            }
            findings.append(
                await check(name) {
                    if let relation, try !surveyed.get().mayRead(relation) {
                        return .skipped(name, "this user may not see \(name.hasSuffix("s") ? "them" : "it")")
                    }
                    return try await body()
                })
        }
        return findings
    }

    /// One question for all that any check has to know.
    private func rights() async -> Result<DatabaseRights, any Error> {
        do {
            let relations = [
                LedgerReader.monitored, History.monitored, Canaries.monitored, RenewalExtensions.monitored,
                ConsumptionRequests.monitored, EventStore.monitored, EndpointStore.monitored,
            ]
            return .success(
                try await DatabaseRights(of: role.map { [$0] } ?? DatabaseRole.allCases, reading: relations, on: pool))
        } catch {
            return .failure(error)
        }
    }

    var survey: ServerSurvey { ServerSurvey(pool) }
    var outbox: Outbox { Outbox(pool) }

    /// A question that this user may not ask is no fault: rights are a check of their own.
    func check(_ name: String, _ body: () async throws -> Finding) async -> Finding {
        do {
            return try await body()
        } catch let error as PostgresError where error.sqlState == "42501" {
            return .skipped(name, "this user may not see it")
        } catch {
            return .failed(name, "\(error)")
        }
    }

    private func schema() async -> Finding {
        let finding = await check("schema") {
            let state = try await migrator.check(on: pool)
            if let misfit = state.misfit { return .failed("schema", misfit) }
            return .ok("schema", "\(state)")
        }
        return finding.status == .skipped ? .skipped("schema", "this user may not see it; see rights") : finding
    }

    private func rights(_ surveyed: Result<DatabaseRights, any Error>) async -> Finding {
        await check("rights") {
            let rights = try surveyed.get()
            let user = try await survey.user()
            var fitting: [DatabaseRole] = []
            var nearest: (role: DatabaseRole, missing: [String])?
            for candidate in role.map({ [$0] }) ?? DatabaseRole.allCases {
                let missing = rights.lacking(for: candidate).map(\.description)
                if missing.isEmpty { fitting.append(candidate) }
                if missing.count < nearest?.missing.count ?? .max { nearest = (candidate, missing) }
            }
            // Without a wish, a user for one of the two programs is expected here.
            if role != nil ? !fitting.isEmpty : fitting.contains(.receiver) || fitting.contains(.worker) {
                return .ok("rights", "\(user) may be \(fitting.map(\.rawValue).joined(separator: ", "))")
            }
            if let other = fitting.first {
                return .failed(
                    "rights",
                    "\(user) may be \(other.rawValue), and neither receiver nor worker: use the program's own user in "
                        + "DATABASE_URL, or say --role \(other.rawValue)")
            }
            let wanted = role ?? nearest?.role ?? .worker
            let missing = nearest?.missing ?? []
            return .failed(
                "rights",
                "\(user) may not be \(wanted.rawValue): it lacks \(missing.prefix(3).joined(separator: ", "))"
                    + (missing.count > 3 ? " and \(missing.count - 3) more" : "")
                    + "; run sql/roles.sql as the owner, then grant storehook_\(wanted.rawValue) to it")
        }
    }

    private func clock() async -> Finding {
        await check("clock") {
            let before = Date()
            let there = try await survey.clock()
            let after = Date()
            let difference = ClockDifference(
                before: .seconds(before.timeIntervalSince1970), after: .seconds(after.timeIntervalSince1970),
                there: .microseconds(there.microsecondsSince1970))
            guard difference.certain <= Self.clockTolerance else {
                return .failed(
                    "clock",
                    "this machine is \(difference.text) the database: let both keep time by NTP; leases and retries go by "
                        + "the database's clock, certificates by this machine's")
            }
            return .ok("clock", "this machine is \(difference.text) the database")
        }
    }

    private func partitions() async throws -> Finding {
        let (ready, without) = try await outbox.daysAhead()
        if without > 0 {
            return .failed(
                "partitions",
                "notifications of \(without) days this week stand in the default partition: storehook maintain")
        }
        guard ready >= 2 else {
            return .failed(
                "partitions",
                "made for \(ready) days ahead: storehook maintain, and see that a worker runs, which does it")
        }
        return .ok("partitions", "made for \(ready) days ahead")
    }

    private func queue() async throws -> Finding {
        let depth = try await outbox.depth()
        let waiting = depth.filter { $0.state != .dead }.reduce(0) { $0 + $1.count }
        guard let ready = depth.first(where: { $0.state == .ready }), ready.oldestAge > Self.queueTolerance
        else {
            return .ok("queue", "\(waiting) to do, none of them overdue")
        }
        return .failed(
            "queue",
            "the oldest of \(ready.count) waits for \(ready.oldestAge.age): is a worker running? storehook work"
        )
    }

    /// What was lost, or what rule is wrong.
    private func anomalies() async throws -> Finding {
        let counts = try await LedgerReader(pool).anomalyCounts()
        let found = counts.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
        guard !found.isEmpty else {
            return .ok("anomalies", "Apple's records explain every status that Apple reported")
        }
        let kinds = found.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ")
        return .failed(
            "anomalies",
            "\(kinds): something was not heard, or a rule is wrong; select * from storehook.anomalies names the purchases"
        )
    }

    private func deadLetters() async throws -> Finding {
        let counts = try await outbox.deadLetterCounts()
        guard !counts.isEmpty else { return .ok("dead letters", "none is open") }
        let total = counts.reduce(0) { $0 + $1.count }
        let reasons = counts.prefix(4).map { "\($0.count) \($0.reason)" }.joined(separator: ", ")
        return .failed("dead letters", "\(total) open (\(reasons)): storehook dead-letters list")
    }
}
