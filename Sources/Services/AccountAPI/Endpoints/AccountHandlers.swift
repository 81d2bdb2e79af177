import APIKit
package import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
import Base
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
    let receipts: ReceiptIntake?
    let refresh: AccountRefresh?
    let log: AccountLog
    /// A refresh an account may have each minute.
    let refreshes = RateLimit<String>(perMinute: 1, burst: 2)
    /// Receipts an account may hand in each minute: apps hand in the same one for each purchase that a device holds.
    let receiptChecks = RateLimit<String>(perMinute: 6, burst: 10)
    /// Receipts that were never seen before: each is stored, and a device gets another one whenever it asks for one.
    let newReceipts: RateLimit<String>

    var accounts: AccountStore { pipeline.accounts }

    /// The handlers.
    /// - Parameters:
    ///   - pipeline: what trials change goes through it.
    ///   - reads: reads accounts, for all of its requests.
    ///   - rule: which account gets a purchase that a second account proves.
    ///   - sandbox: the accounts whose purchases in Sandbox give access.
    ///   - receipts: judges old receipts.
    ///   - refresh: nil where there is no key for Apple's Server API.
    ///   - log: records what happens to accounts.
    ///   - mostNewReceipts: how many receipts that were never seen before an account may hand in at once; one more each quarter of an
    ///     hour.
    package init(
        pipeline: EvidencePipeline, reads: AccountReads, intake: EvidenceIntake, usage: Usage,
        rule: RestoreRule,
        sandbox: SandboxAccess,
        receipts: ReceiptIntake? = nil, refresh: AccountRefresh? = nil, log: AccountLog = .none,
        mostNewReceipts: Int = 50
    ) {
        self.pipeline = pipeline
        self.reads = reads
        self.intake = intake
        self.usage = usage
        self.rule = rule
        self.sandbox = sandbox
        self.receipts = receipts
        self.refresh = refresh
        self.log = log
        newReceipts = RateLimit(every: .seconds(900), burst: mostNewReceipts)
    }

    /// An account, the catalog that it was read by, and the reader that the answer is written for.
    struct ReadAccount: Sendable {
        var view: AccountView
        var reader: Reader
    }

    /// Refuses a caller that may not ask for the environment its request names, before anything is done for it.
    func requireEnvironment(_ request: AccountRequest) throws {
        let caller = try request.requireCaller()
        guard let asked = request.query["environment"], asked != Environment.production.rawValue, !caller.isServer,
            !sandbox.includes(caller.account)
        else { return }
        throw APIProblem(.environmentForbidden, "only testers and the operator's servers ask for another environment")
    }

    /// The account of a request, in the environment that it asks for.
    ///
    /// Production by default. Sandbox where Production gives nothing, this account may use purchases in Sandbox, and
    /// Sandbox gives something.
    /// - Throws: ``APIProblem`` where the caller may not ask for the environment; `PostgresError`.
    func readAccount(_ request: AccountRequest) async throws -> ReadAccount {
        let caller = try request.requireCaller()
        let isTester = sandbox.includes(caller.account)
        try requireEnvironment(request)
        if let asked = request.query["environment"] {
            return try await readAccount(caller, in: asked, request)
        }
        let production = try await readAccount(caller, in: Environment.production.rawValue, request)
        guard isTester, !production.view.current.access else { return production }
        let sandbox = try await readAccount(caller, in: Environment.sandbox.rawValue, request)
        return sandbox.view.current.access ? sandbox : production
    }

    /// The account in an environment.
    /// - Parameter known: how it was read just now; it is not read again where that was of the same environment.
    func readAccount(
        _ caller: Caller, in environment: String, _ request: AccountRequest, having known: ReadAccount? = nil
    ) async throws -> ReadAccount {
        if let known, known.view.environment == environment { return known }
        var view = try await reads.value(of: .init(caller.token, in: environment))
        view.account = caller.account
        return ReadAccount(view: view, reader: Reader(view.catalog ?? Self.noCatalog, languages: request.languages))
    }

    /// Used where no catalog was ever applied: every account has nothing.
    private static let noCatalog = Catalog(tiers: [Catalog.Tier(id: "free")])

    /// Of a request that may name an environment.
    static let environment = APIQueryParameter(
        "environment", .choice(["Production", "Sandbox", "Xcode", "LocalTesting"]),
        "Production by default. Another one only for testers and server keys.")
}
