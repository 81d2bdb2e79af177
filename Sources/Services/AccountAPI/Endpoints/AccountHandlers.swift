import APIKit
package import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
package import Base
import Logging
package import Pipeline
import Synchronization

/// What the account API's paths do: reads accounts, takes in what proves purchases, and counts use.
package struct AccountHandlers: Sendable {
    let pipeline: EvidencePipeline
    let reads: AccountReads
    let intake: EvidenceIntake
    let usage: Usage
    let rule: RestoreRule
    let sandbox: SandboxAccess
    let proven: ProvenAnswers
    let receipts: ReceiptIntake?
    let refresh: AccountRefresh?
    let log: AccountLog
    let attemptLog: AttemptLog
    private let naming: AccountNaming
    /// Called with an account that a proof has changed, before that is answered.
    let onChange: @Sendable (UniqueIdentifier) -> Void
    /// A refresh an account may have each minute.
    let refreshes = RateLimit<String>(perMinute: 1, burst: 2)
    /// Receipts an account may hand in each minute: apps hand in the same one for each purchase that a device holds.
    let receiptChecks = RateLimit<String>(perMinute: 6, burst: 10)
    /// Receipts that were never seen before: each is stored, and a device gets another one whenever it asks for one.
    let newReceipts: RateLimit<String>

    var accounts: AccountStore { pipeline.accounts }
    private var environments: AccountEnvironmentReads {
        AccountEnvironmentReads(reads, sandbox: sandbox, proven: proven)
    }

    /// The handlers.
    /// - Parameters:
    ///   - pipeline: what trials change goes through it.
    ///   - reads: reads accounts, for all of its requests.
    ///   - rule: which account gets a purchase that a second account proves.
    ///   - sandbox: the accounts whose purchases in Sandbox give access.
    ///   - proven: up to when answers hold all that Apple has posted.
    ///   - receipts: judges old receipts.
    ///   - refresh: nil where there is no key for Apple's Server API.
    ///   - log: records what happens to accounts.
    ///   - onChange: called with an account that a proof has changed, before that is answered: this process's guard reads it again.
    ///   - mostNewReceipts: how many receipts that were never seen before an account may hand in at once; one more each quarter of an
    ///     hour.
    package init(
        pipeline: EvidencePipeline, reads: AccountReads, intake: EvidenceIntake, usage: Usage,
        rule: RestoreRule,
        sandbox: SandboxAccess, proven: ProvenAnswers = .none,
        receipts: ReceiptIntake? = nil, refresh: AccountRefresh? = nil, log: AccountLog = .none,
        mostNewReceipts: Int = 50, onChange: @escaping @Sendable (UniqueIdentifier) -> Void = { _ in }
    ) {
        self.pipeline = pipeline
        self.reads = reads
        self.intake = intake
        self.usage = usage
        self.rule = rule
        self.sandbox = sandbox
        self.proven = proven
        self.receipts = receipts
        self.refresh = refresh
        self.log = log
        attemptLog = AttemptLog(log)
        naming = AccountNaming(pipeline.accounts, logger: log.logger)
        self.onChange = onChange
        newReceipts = RateLimit(every: .seconds(900), burst: mostNewReceipts)
    }

    /// An account, the catalog that it was read by, and the reader that the answer is written for.
    struct ReadAccount: Sendable {
        var view: AccountView
        var reader: Reader

        init(_ view: AccountView, for request: AccountRequest) {
            self.view = view
            reader = Reader(view.catalog ?? AccountHandlers.noCatalog, languages: request.languages)
        }
    }

    /// Refuses a caller that may not ask for the environment its request names, before anything is done for it.
    func requireEnvironment(_ request: AccountRequest) throws {
        let caller = try request.requireCaller()
        guard let asked = request.query["environment"], asked != Environment.production.rawValue, !caller.isServer,
            !sandbox.includes(caller.account)
        else { return }
        throw APIProblem(
            .environmentForbidden,
            ProblemText(
                "only testers and the operator's servers ask for another environment", "只有测试者和运营方的服务器可以查询其他环境",
                "只有測試者和營運方的伺服器可以查詢其他環境"))
    }

    /// The account of a request, in the environment that it asks for.
    ///
    /// By default the one that ``AccountEnvironments`` chooses, as the guard does.
    /// - Parameter isNaming: whether the answer hands out the token. Then the caller's id is kept, once: the read that the answer makes
    ///   anyway says whether it is.
    /// - Throws: ``APIProblem`` where the caller may not ask for the environment; `PostgresError`.
    func readAccount(_ request: AccountRequest, naming isNaming: Bool = false) async throws -> ReadAccount {
        let caller = try request.requireCaller()
        try requireEnvironment(request)
        let asksForName = isNaming && caller.account.id != nil
        let account: ReadAccount
        let isNamed: Bool?
        if let asked = request.query["environment"] {
            let view = try await environments.account(of: caller, in: asked, askingForName: asksForName)
            (account, isNamed) = (ReadAccount(view, for: request), view.isNamed)
        } else {
            let views = try await environments.environments(of: caller, askingForName: asksForName)
            (account, isNamed) = (ReadAccount(views.answering(), for: request), views.production.isNamed)
        }
        if isNamed == false { await naming.keep(caller.account) }
        return account
    }

    /// The account in an environment.
    /// - Parameter known: how it was read just now; it is not read again where that was of the same environment.
    func readAccount(
        _ caller: Caller, in environment: String, _ request: AccountRequest, having known: ReadAccount? = nil
    ) async throws -> ReadAccount {
        if let known, known.view.environment == environment { return known }
        return ReadAccount(try await environments.account(of: caller, in: environment), for: request)
    }

    /// Used where no catalog was ever applied: every account has nothing.
    private static let noCatalog = Catalog(tiers: [Catalog.Tier(id: "free")])

    /// Of a request that may name an environment.
    static let environment = APIQueryParameter(
        "environment", Environment.schema,
        "Production by default. Another one only for testers and server keys.")
}
