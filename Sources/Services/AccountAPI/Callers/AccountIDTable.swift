import APIKit
package import AccountStore
package import Accounts
import Base
import HTTPKit
package import Logging
import ServiceLifecycle
import Synchronization

/// The rule of account ids, read from the database every few seconds: a changed rule counts for callers within seven seconds.
///
/// While the database is away, the rule that was read last counts. Callers are answered 503 in three cases:
/// - no rule was read yet;
/// - the database has none;
/// - the database's rule is not the one of this process's setting.
package final class AccountIDTable: Service {
    private enum Known: Hashable {
        case rule(AccountIDRule)
        case refused(String)
    }

    private let read: @Sendable () async throws -> AccountIDRule
    private let logger: Logger
    private let known: Mutex<Known?>

    /// A table whose rule was not read yet.
    /// - Parameter setting: `STOREHOOK_ACCOUNT_IDS`; nil where it is not set.
    package init(_ ids: AccountIDs, setting: AccountIDRule? = nil, logger: Logger) {
        read = { try await ids.rule(setting: setting) }
        known = Mutex(nil)
        self.logger = logger
    }

    /// A table of one rule, without a database.
    package init(_ rule: AccountIDRule, logger: Logger) {
        read = { rule }
        known = Mutex(.rule(rule))
        self.logger = logger
    }

    /// Why no account can be named, for people; nil if accounts can.
    package var whyNone: String? {
        known.withLock { known in
            switch known {
            case .rule: nil
            case .refused(let why): why
            case nil: "the rule of account ids was not read yet"
            }
        }
    }

    /// The account that an id names; nil for what is no id.
    /// - Throws: ``APIProblem``, 503, where that is not known.
    func account(_ id: String) async throws -> AccountIdentity? {
        guard Caller.isID(id) else { return nil }
        return try await rule().account(id)
    }

    /// The rule, read now if it was not read yet.
    /// - Throws: ``APIProblem``, 503, where there is none; what reading throws.
    func rule() async throws -> AccountIDRule {
        var known = known.withLock(\.self)
        if known == nil { known = try await look() }
        guard case .rule(let rule) = known else {
            throw APIProblem.unavailable(
                ProblemText("accounts cannot be named at the moment", "暂时无法识别账号", "暫時無法識別帳號"), retryAfter: 5)
        }
        return rule
    }

    /// Reads it.
    package func refresh() async throws { _ = try await look() }

    private func look() async throws -> Known {
        let read: Known
        do { read = .rule(try await self.read()) } catch let refusal as AccountIDRefusal {
            read = .refused("\(refusal)")
        }
        let before = known.withLock { known in
            defer { known = read }
            return known
        }
        guard read != before else { return read }
        switch read {
        case .rule(let rule):
            logger.log(
                level: before == nil ? .debug : .notice, "Accounts are named by a rule of ids",
                metadata: ["rule": "\(rule.rawValue)"])
        case .refused(let why): logger.error("Accounts cannot be named; answering 503", metadata: ["why": "\(why)"])
        }
        return read
    }

    /// Reads it again and again, until graceful shutdown.
    package func run() async throws {
        let isKnown: @Sendable () -> Bool = { self.known.withLock { $0 != nil } }
        // The pool reports a database that is away.
        await repeatUntilShutdown(pause: { isKnown() ? .seconds(5).jittered : .seconds(1) }) {
            try? await self.refresh()
        }
    }
}
