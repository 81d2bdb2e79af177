import AccountStore
package import Accounts
package import Base

/// An account in the environments that may answer for it. Reads and the guard both choose by it.
package struct AccountEnvironments: Sendable {
    /// The account in Production.
    package var production: AccountView
    /// The account in Sandbox: only where its purchases there give access (``SandboxAccess``) and may be asked for.
    package var sandbox: AccountView?

    /// An account.
    package init(production: AccountView, sandbox: AccountView? = nil) {
        self.production = production
        self.sandbox = sandbox
    }

    /// The account that answers: Production, or Sandbox where Production gives nothing and Sandbox gives something.
    /// - Parameter instant: the instant asked about; by default each view's own.
    package func answering(at instant: Timestamp? = nil) -> AccountView {
        guard let sandbox, !production.access(at: instant), sandbox.access(at: instant) else { return production }
        return sandbox
    }
}

extension AccountView {
    fileprivate func access(at instant: Timestamp?) -> Bool {
        instant.map { state.value(at: $0).access } ?? current.access
    }

    /// Whether it has access all the time from its instant on, for a while.
    fileprivate func hasAccess(for time: Duration) -> Bool {
        guard current.access else { return false }
        return accessUntil.map { $0 > instant.adding(seconds: time.components.seconds) } ?? true
    }
}

/// Reads accounts in the environments that may answer for them.
package struct AccountEnvironmentReads: Sendable {
    private let reads: AccountReads
    private let sandbox: SandboxAccess
    private let proven: ProvenAnswers

    /// Reads by these.
    /// - Parameter proven: up to when what is read holds all that Apple has posted.
    package init(_ reads: AccountReads, sandbox: SandboxAccess, proven: ProvenAnswers = .none) {
        self.reads = reads
        self.sandbox = sandbox
        self.proven = proven
    }

    /// An account now. Sandbox is read only where it may have to answer.
    /// - Parameters:
    ///   - time: for how long the answer is to hold. The guard remembers it for longer than an instant.
    ///   - asksForName: whether Production's view says if the account's id is kept.
    /// - Throws: `PostgresError`.
    package func environments(
        of caller: Caller, for time: Duration = .zero, askingForName asksForName: Bool = false
    ) async throws -> AccountEnvironments {
        var account = AccountEnvironments(
            production: try await self.account(
                of: caller, in: Environment.production.rawValue, askingForName: asksForName))
        if sandbox.includes(caller.account), !account.production.hasAccess(for: time) {
            account.sandbox = try await self.account(of: caller, in: Environment.sandbox.rawValue)
        }
        return account
    }

    /// An account in one environment now.
    /// - Throws: `PostgresError`.
    package func account(
        of caller: Caller, in environment: String, askingForName asksForName: Bool = false
    ) async throws -> AccountView {
        // Before the account is read: that is true of every later read.
        let provenUntil = proven.instant(in: environment)
        var view = try await reads.value(of: .init(caller.token, in: environment, askingForName: asksForName))
        view.account = caller.name
        view.provenUntil = provenUntil
        return view
    }
}
