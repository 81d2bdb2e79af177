import AccountStore
package import Accounts
import AppleRecords
import AuditStore
import Base
import EventStore
import EvidenceStore
import Foundation
package import Postgres
import PurchaseStore
import Subscriptions

/// The checks of the database; each question has a deadline.
package struct DatabaseChecks: Sendable {
    let pool: PostgresPool
    private let migrator: Migrator
    private let role: DatabaseRole?
    let transactionAge: Duration
    let configuration: PostgresConfiguration
    let storeDeadline: Duration
    let accountIDs: AccountIDRule?
    /// The apps that the settings serve.
    let apps: Set<String>
    /// Whether findings name accounts in full.
    let namesAccounts: Bool
    /// The user's rights, read once for all checks.
    var surveyed: Result<DatabaseRights, any Error>?

    /// Checks of a database.
    /// - Parameters:
    ///   - migrator: knows the schema that the program was built for.
    ///   - configuration: how the database is reached.
    ///   - storeDeadline: how long a receiver waits for a commit.
    ///   - role: what the user must be allowed to be; without one, a receiver or a worker.
    ///   - accountIDs: what the settings say of account ids; nil where they say nothing.
    ///   - apps: the apps that the settings serve; empty where they do not say.
    ///   - namesAccounts: whether findings name accounts in full, or shortened.
    ///   - transactionAge: for how long a transaction may keep dead rows from being removed.
    package init(
        pool: PostgresPool, migrator: Migrator, configuration: PostgresConfiguration, storeDeadline: Duration,
        role: DatabaseRole?, accountIDs: AccountIDRule? = nil, apps: Set<String> = [], namesAccounts: Bool = true,
        transactionAge: Duration = Self.usualTransactionAge
    ) {
        self.apps = apps
        self.namesAccounts = namesAccounts
        self.pool = pool
        self.migrator = migrator
        self.configuration = configuration
        self.storeDeadline = storeDeadline
        self.role = role
        self.accountIDs = accountIDs
        self.transactionAge = transactionAge
    }

    /// What a connection's `queryTimeout` should be, so that the doctor ends soon.
    package static let queryTimeout = Duration.seconds(5)
    /// For how long a transaction may keep dead rows from being removed, unless the operator says otherwise.
    package static let usualTransactionAge = Duration.seconds(600)
    /// A question, and what it is called.
    private struct Check: Sendable {
        let name: String
        /// Whether it can be asked of the program's own schema alone.
        var needsSchema = true
        /// The relation that it reads, where some users may not read it.
        var reads: String?
        let ask: @Sendable (DatabaseChecks) async throws -> Finding.Answer
    }

    /// In the order in which they are asked.
    private static let checks = [
        Check(name: "server", needsSchema: false) { try await $0.server() },
        Check(name: "schema", needsSchema: false) { try await $0.schema() },
        Check(name: "rights", needsSchema: false) { try await $0.rights() },
        Check(name: "hosts", needsSchema: false) { try await $0.hosts() },
        Check(name: "replication", needsSchema: false) { try await $0.replication() },
        Check(name: "clock", needsSchema: false) { try await $0.clock() },
        Check(name: "date style", needsSchema: false) { try await $0.dateStyle() },
        Check(name: "disk", needsSchema: false) { try await $0.disk() },
        Check(name: "vacuum horizon", needsSchema: false) { try await $0.horizon() },
        Check(name: "replication slots", needsSchema: false) { try await $0.slots() },
        Check(name: "notices", needsSchema: false) { try await $0.notices() },
        Check(name: "partitions") { try await $0.partitions() }, Check(name: "queue") { try await $0.queue() },
        Check(name: "refusals", reads: RefusedRows.monitored) { try await $0.refusals() },
        Check(name: "version 1", reads: Outbox.oldPosts) { try await $0.oldPosts() },
        Check(name: "evidence") { try await $0.evidence() },
        Check(name: "dead letters") { try await $0.deadLetters() },
        Check(name: "anomalies", reads: LedgerReader.monitored) { try await $0.anomalies() },
        Check(name: "history", reads: History.monitored) { try await $0.history() },
        Check(name: "canary", reads: Canaries.monitored) { try await $0.canary() },
        Check(name: "due", reads: DueEnds.monitored) { try await $0.due() },
        Check(name: "extensions", reads: RenewalExtensions.monitored) { try await $0.extensions() },
        Check(name: "consumption requests", reads: ConsumptionRequests.monitored) { try await $0.consumption() },
        Check(name: "catalog", reads: UnsoldProducts.monitored) { try await $0.catalog() },
        Check(name: "account ids", reads: AccountIDs.monitored) { try await $0.checkAccountIDs() },
        Check(name: "audit", reads: AuditLog.monitored) { try await $0.audit() },
        Check(name: "events", reads: EventStore.monitored) { try await $0.events() },
        Check(name: "endpoints", reads: EndpointStore.glanced) { try await $0.endpoints() },
    ]

    /// What the checks are called, in their order.
    package static let names = ["database"] + checks.map(\.name)
    /// For how long a post of version 1 is worth a line: Apple posts some each day where it is set to it.
    private static let oldPostAge = Duration.seconds(86_400)
    /// How far clocks may be apart; NTP keeps them within milliseconds.
    private static let clockTolerance = Duration.seconds(5)
    /// How long the oldest notification may wait before the operator should check that workers run.
    private static let queueTolerance = Duration.seconds(300)

    /// A finding for each of ``names``.
    package func findings() async -> [Finding] {
        do {
            _ = try await survey.user()
        } catch {
            let answer = Finding.Answer.failed("\(error)\((error as? PostgresError)?.advice ?? "")")
            return [Finding("database", answer)] + Self.checks.map { Finding($0.name, .skipped("no database to ask")) }
        }
        var findings = [Finding("database", .ok("reached \(configuration)"))]
        var asked = self
        asked.surveyed = await surveyRights()
        var fits = true
        for check in Self.checks {
            let answer = check.needsSchema && !fits ? .skipped("see schema") : await asked.answer(of: check)
            if check.name == "schema" { fits = answer.status == .ok }
            findings.append(Finding(check.name, answer))
        }
        return findings
    }

    var survey: ServerSurvey { ServerSurvey(pool) }
    var outbox: Outbox { Outbox(pool) }

    /// One question for all that any check has to know.
    private func surveyRights() async -> Result<DatabaseRights, any Error> {
        do {
            return .success(
                try await DatabaseRights(
                    of: role.map { [$0] } ?? DatabaseRole.allCases, reading: Self.checks.compactMap(\.reads), on: pool))
        } catch {
            return .failure(error)
        }
    }

    /// A question that this user may not ask is no fault: rights are a check of their own.
    private func answer(of check: Check) async -> Finding.Answer {
        do {
            if let relation = check.reads, let surveyed, try !surveyed.get().mayRead(relation) {
                return .skipped("this user may not see \(check.name.hasSuffix("s") ? "them" : "it")")
            }
            return try await check.ask(self)
        } catch let error as PostgresError where error.sqlState == "42501" {
            return .skipped("this user may not see it")
        } catch {
            return .failed("\(error)")
        }
    }

    private func schema() async throws -> Finding.Answer {
        do {
            let state = try await migrator.check(on: pool)
            return state.misfit.map { .failed($0) } ?? .ok("\(state)")
        } catch let error as PostgresError where error.sqlState == "42501" {
            return .skipped("this user may not see it; see rights")
        }
    }

    private func rights() async throws -> Finding.Answer {
        guard let rights = try surveyed?.get() else { return .skipped("no database to ask") }
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
            return .ok("\(user) may be \(fitting.map(\.rawValue).joined(separator: ", "))")
        }
        if let other = fitting.first {
            return .failed(
                "\(user) may be \(other.rawValue), and neither receiver nor worker: use the program's own user in "
                    + "DATABASE_URL, or say --role \(other.rawValue)")
        }
        let wanted = role ?? nearest?.role ?? .worker
        let missing = nearest?.missing ?? []
        return .failed(
            "\(user) may not be \(wanted.rawValue): it lacks \(missing.prefix(3).joined(separator: ", "))"
                + (missing.count > 3 ? " and \(missing.count - 3) more" : "")
                + "; run sql/roles.sql as the owner, then grant storehook_\(wanted.rawValue) to it")
    }

    private func clock() async throws -> Finding.Answer {
        let before = Date()
        let there = try await survey.clock()
        let after = Date()
        let difference = ClockDifference(
            before: .seconds(before.timeIntervalSince1970), after: .seconds(after.timeIntervalSince1970),
            there: .microseconds(there.microsecondsSince1970))
        guard difference.certain <= Self.clockTolerance else {
            return .failed(
                "this machine is \(difference.text) the database: let both keep time by NTP; leases and retries go by "
                    + "the database's clock, certificates by this machine's")
        }
        return .ok("this machine is \(difference.text) the database")
    }

    private func partitions() async throws -> Finding.Answer {
        let (ready, without) = try await outbox.daysAhead()
        if without > 0 {
            return .failed(
                "notifications of \(without) days this week stand in the default partition: storehook maintain")
        }
        guard ready >= 2 else {
            return .failed(
                "made for \(ready) days ahead: storehook maintain, and see that a worker runs, which does it")
        }
        return .ok("made for \(ready) days ahead")
    }

    private func queue() async throws -> Finding.Answer {
        let depth = try await outbox.depth()
        let waiting = depth.filter { $0.state != .dead }.reduce(0) { $0 + $1.count }
        guard let ready = depth.first(where: { $0.state == .ready }), ready.oldestAge > Self.queueTolerance
        else {
            return .ok("\(waiting) to do, none of them overdue")
        }
        return .failed(
            "the oldest of \(ready.count) waits for \(ready.oldestAge.age): is a worker running? storehook work"
        )
    }

    /// Whether App Store Connect is set to version 1, whose notifications are refused.
    private func oldPosts() async throws -> Finding.Answer {
        guard let last = try await outbox.lastOldPost() else { return .ok("no version 1 bodies are posted") }
        guard last.age < Self.oldPostAge else {
            return .ok("version 1 bodies are posted no longer, last seen \(Timestamp(last.at))")
        }
        return .failed(
            "somebody posts version 1 bodies, last seen \(Timestamp(last.at)), which are refused: if it is Apple, App Store "
                + "Connect is set to version 1; choose version 2 there")
    }

    /// Statuses from Apple that no stored record explains: a record was lost, or a rule is wrong.
    private func anomalies() async throws -> Finding.Answer {
        let counts = try await LedgerReader(pool).anomalyCounts()
        let found = counts.filter { $0.value > 0 }.sorted { $0.key.rawValue < $1.key.rawValue }
        guard !found.isEmpty else {
            return .ok("Apple's records explain every status that Apple reported")
        }
        let kinds = found.map { "\($0.value) \($0.key.rawValue)" }.joined(separator: ", ")
        return .failed(
            "\(kinds): something was not heard, or a rule is wrong; select * from storehook.anomalies names the purchases"
        )
    }

    private func deadLetters() async throws -> Finding.Answer {
        let counts = try await outbox.deadLetterCounts()
        guard !counts.isEmpty else { return .ok("none is open") }
        let total = counts.reduce(0) { $0 + $1.count }
        let reasons = counts.prefix(4).map { "\($0.count) \($0.reason)" }.joined(separator: ", ")
        return .failed("\(total) open (\(reasons)): storehook dead-letters list")
    }
}
