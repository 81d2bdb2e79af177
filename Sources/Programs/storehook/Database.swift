import AccountStore
import Accounts
import Base
import Logging
import Operations
import Postgres
import Schema

/// Opening the database, and refusing one whose schema does not fit.
enum Database {
    /// Runs `body` with a pool of connections to a database whose schema fits this binary, and closes it.
    /// - Parameters:
    ///   - checkingIDs: whether to refuse a setting that differs from the database's rule of account ids.
    ///   - login: the user that the command is for.
    static func with<T>(
        _ settings: Settings, size: Int = 1, checkingIDs: Bool = true, for login: Login = .role(.ops),
        _ body: (PostgresPool) async throws -> T
    ) async throws -> T {
        let pool = try open(settings, size: size)
        do {
            let result = try await explaining(pool, for: login) {
                try await requireCurrentSchema(pool)
                if checkingIDs { try await requireAccountIDs(pool, settings.accountIDs()) }
                return try await body(pool)
            }
            await pool.close()
            return result
        } catch {
            await pool.close()
            throw error
        }
    }

    /// A pool for a command. Why there is no connection says the command's error, and not the log as well.
    static func open(_ settings: Settings, size: Int) throws -> PostgresPool {
        var logger = try settings.logger("postgres")
        if logger.logLevel >= .info { logger.logLevel = .error }
        return PostgresPool(configuration: try settings.database(), size: size, logger: logger)
    }

    static func migrator() throws -> Migrator {
        try Migrator(migrations: Schema.migrations, oldestFitting: Schema.oldestFitting)
    }

    /// A binary works with the schemas of its range and no other.
    static func requireCurrentSchema(_ pool: PostgresPool) async throws {
        let state = try await migrator().check(on: pool)
        if let misfit = misfit(state) { throw misfit }
    }

    /// Refuses a program whose `STOREHOOK_ACCOUNT_IDS` is another rule than the database's. Where it is not set (nil), the
    /// database's rule counts.
    static func requireAccountIDs(_ pool: PostgresPool, _ setting: AccountIDRule?) async throws {
        guard let setting else { return }
        do {
            _ = try await AccountIDs(pool).rule(setting: setting)
        } catch AccountIDRefusal.unnamed {
            // A program that names no account runs without a rule; the others read the rule themselves, and fail.
        } catch let refusal as AccountIDRefusal {
            throw CommandFailure("\(refusal)", status: .usage)
        } catch let error as PostgresError where error.sqlState == "42501" {
            // A database user without the right to read the rule names no account either.
        }
    }

    /// The account that a command is about.
    static func account(
        _ reference: AccountReference, _ pool: PostgresPool, _ settings: Settings
    ) async throws -> AccountIdentity {
        if case .token(let token) = reference { return AccountIdentity(token: token) }
        let rule: AccountIDRule
        do {
            rule = try await AccountIDs(pool).rule(setting: try settings.accountIDs())
        } catch let refusal as AccountIDRefusal {
            throw CommandFailure("\(refusal)", status: .usage)
        }
        guard let account = reference.account(by: rule) else {
            throw CommandFailure(
                "\(reference) is no id of an account: under the rule uuid every id is a UUID (storehook account-ids)",
                status: .usage)
        }
        if case .id(let id) = reference, let uuid = UniqueIdentifier(id), uuid != account.token {
            StandardError.line(
                "storehook: \(id) is taken as an account's id; the account with that appAccountToken is token:\(uuid)")
        }
        return account
    }

    /// The token of the account that a list is restricted to; nil where it is not.
    static func token(
        _ reference: AccountReference?, _ pool: PostgresPool, _ settings: Settings
    ) async throws -> UniqueIdentifier? {
        guard let reference else { return nil }
        return try await account(reference, pool, settings).token
    }

    /// A program that answers others starts while the database is unavailable, and answers 503 until it is back with a schema that
    /// fits; on the wrong schema it does not start.
    /// - Parameter role: the program's.
    /// - Returns: whether the schema was seen to fit.
    static func requireSchemaIfReachable(_ pool: PostgresPool, for role: DatabaseRole) async throws -> Bool {
        do {
            try await explaining(pool, for: .role(role)) { try await requireCurrentSchema(pool) }
            return true
        } catch let error as PostgresError where error.isTransient {
            StandardError.line(
                "storehook: the database is unavailable, answering 503 until it is back: \(error)\(error.advice)")
            return false
        }
    }

    static func misfit(_ state: SchemaState) -> CommandFailure? {
        state.misfit.map { CommandFailure($0, status: .schemaMismatch) }
    }
}
