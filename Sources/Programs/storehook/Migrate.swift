import AccountStore
import ArgumentParser
import EventStore
import EvidenceStore
import Postgres
import Schema

struct Migrate: ActingCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the schema up to date.",
        discussion: """
            Safe to run from many machines at once, and while everything else runs: it waits for no lock for longer than a
            second, and tries again. --check changes nothing and exits with 57 if something is to be done.

            Example: DATABASE_URL=postgresql:///storehook storehook migrate
            """)

    @OptionGroup var shared: SharedOptions
    @Flag(help: "Only show how the schema stands.") var check = false

    func run() async throws {
        let settings = try await shared.settings()
        let pool = try Database.open(settings, size: 1)
        do {
            try await Database.explaining(pool, for: .owner) { try await migrate(pool, settings) }
            await pool.close()
        } catch {
            await pool.close()
            throw error
        }
    }

    private func migrate(_ pool: PostgresPool, _ settings: Settings) async throws {
        let migrator = try Database.migrator()
        if check {
            let state = try await migrator.check(on: pool)
            if let misfit = Database.misfit(state) { throw misfit }
            if state.isBehind { throw CommandFailure("\(state)", status: .schemaMismatch) }
            StandardOutput.line("\(state)")
            return
        }
        do {
            let applied = try await migrator.migrate(on: pool) { tries in
                guard tries == 1 || tries.isMultiple(of: 10) else { return }
                StandardError.line(
                    "storehook: others hold a lock that a migration needs (a dump, say): made room, and tried \(tries) times"
                )
            }
            for migration in applied {
                StandardOutput.line("applied \(migration.version) \(migration.name)")
            }
        } catch let mismatch as SchemaMismatch {
            throw CommandFailure("\(mismatch)", status: .schemaMismatch)
        }
        // Before anything is there that would have to be moved into them.
        let made = try await Outbox(pool).ensurePartitions() + EventStore(pool).ensurePartitions()
        if made > 0 { StandardOutput.line("made \(made) partitions") }
        StandardOutput.line("\(try await migrator.check(on: pool))")
        try await nameIDs(pool, settings)
    }

    /// Names the rule of account ids by the setting, unless it is named already. Reports what the operator has to decide.
    private func nameIDs(_ pool: PostgresPool, _ settings: Settings) async throws {
        let ids = AccountIDs(pool)
        do {
            if let setting = try settings.accountIDs() { _ = try await ids.rule(setting: setting) }
            if try await ids.standing().rule == nil { throw AccountIDRefusal.unnamed }
        } catch let refusal as AccountIDRefusal {
            StandardError.line("storehook: \(refusal)")
        }
    }
}
