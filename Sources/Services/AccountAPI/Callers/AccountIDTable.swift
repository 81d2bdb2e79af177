import APIKit
package import AccountStore
package import Accounts
import Base
import HTTPKit
package import Logging
import ServiceLifecycle
import Synchronization

/// The rule of account ids that this process goes by. It is read every few seconds, so that a change takes effect within seven seconds.
///
/// While the database is away, the rule that was read last stays in effect. Callers are refused with 503 where there is no rule, or where
/// it is not the one of this process's setting.
package final class AccountIDTable: Service {
    private enum Known: Hashable {
        case rule(AccountIDRule)
        case refused(String)
    }

    private let read: @Sendable () async throws -> AccountIDRule
    private let logger: Logger
    private let known: Mutex<Known?>

    /// A table that nothing was read into yet.
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

    /// Why nobody can be named, for people; nil if accounts can.
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

    /// The rule. It is read where it was not yet.
    func rule() async throws -> AccountIDRule {
        if let rule = rule(of: known.withLock { $0 }) { return rule }
        if known.withLock({ $0 == nil }) { try await refresh() }
        guard let rule = rule(of: known.withLock { $0 }) else {
            throw APIProblem.unavailable("accounts cannot be named at the moment", retryAfter: 5)
        }
        return rule
    }

    private func rule(of known: Known?) -> AccountIDRule? { if case .rule(let rule) = known { rule } else { nil } }

    /// Reads it.
    package func refresh() async throws {
        let read: Known
        do { read = .rule(try await self.read()) } catch let refusal as AccountIDRefusal {
            read = .refused("\(refusal)")
        }
        let before = known.withLock { known in
            defer { known = read }
            return known
        }
        guard read != before else { return }
        switch read {
        case .rule(let rule):
            logger.log(
                level: before == nil ? .debug : .notice, "Accounts are named by a rule of ids",
                metadata: ["rule": "\(rule.rawValue)"])
        case .refused(let why): logger.error("Accounts cannot be named; answering 503", metadata: ["why": "\(why)"])
        }
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
