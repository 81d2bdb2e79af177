import APIKit
import AccountStore
package import Accounts
import AppStorePayloads
import AppleRecords
import AuditStore
import Base
import EventStore
import EvidenceStore
import FigureStore
import HTTPTypes
package import Logging
package import Operations
import OrderStore
package import Pipeline
package import Postgres
import PurchaseStore
package import Staff

/// What the admin API's paths do: the same functions that commands call, for a member of the staff.
package struct AdminHandlers: Sendable {
    let pipeline: EvidencePipeline
    let staff: StaffMembers
    let tries: ForbiddenTries
    let audit: AuditLog
    let extensions: RenewalExtensions
    let orders: OrderStore
    let refunds: RefundRequests
    let figures: FigureStore
    let due: DueEnds
    let consumption: ConsumptionRequests
    let consents: Consents
    let usage: Usage
    let endpointStore: EndpointStore
    let health: HealthBoard
    let outbox: Outbox
    /// The stories of purchases.
    let reader: LedgerReader
    let jobs: JobStore
    let events: EventStore
    let finder: IDSearch
    let searches: StaffSearches
    let filters: SavedFilters
    let overview: OverviewStore
    /// Sends the overview to those who look on; a program runs it.
    package let feed: OverviewFeed
    let exports = ExportSlots()
    let catalogs = ExportSlots(mostOfOne: 1, most: 1)
    private let ids: AccountIDs
    private let accountIDs: AccountIDRule?
    let secrets: EndpointSecrets
    /// The apps that members may be staff of; any where it is empty.
    let apps: Set<String>
    let rules: StaffRules

    var accounts: AccountStore { pipeline.accounts }

    /// The handlers.
    /// - Parameters:
    ///   - accountIDs: `STOREHOOK_ACCOUNT_IDS`; nil where it is not set.
    ///   - apps: the bundle ids of `STOREHOOK_APPS`.
    ///   - secrets: whether endpoints get new secrets from here. No secret is read.
    ///   - checks: the checks that the state of the service is answered from; nil where the answer has none.
    ///   - bounds: the bounds of overviews that go on.
    package init(
        _ pool: PostgresPool, _ pipeline: EvidencePipeline, accountIDs: AccountIDRule?, apps: Set<String>,
        rules: StaffRules = StaffRules(), secrets: EndpointSecrets = .noKey, checks: DatabaseChecks? = nil,
        overviews bounds: OverviewFeed.Bounds = OverviewFeed.Bounds(), logger: Logger
    ) {
        health = HealthBoard { await checks?.findings() ?? [] }
        self.pipeline = pipeline
        staff = StaffMembers(pool)
        tries = ForbiddenTries(pool)
        audit = AuditLog(pool)
        extensions = RenewalExtensions(pool)
        orders = OrderStore(pool)
        refunds = RefundRequests(pool, pipeline.accounts, rules: rules)
        figures = FigureStore(pool)
        due = DueEnds(pool)
        consumption = ConsumptionRequests(pool)
        consents = Consents(pool)
        usage = Usage(pool)
        endpointStore = EndpointStore(pool)
        outbox = Outbox(pool)
        reader = LedgerReader(pool, policy: pipeline.ledger.policy)
        jobs = JobStore(pool)
        events = EventStore(pool)
        finder = IDSearch(pool)
        searches = StaffSearches(pool)
        filters = SavedFilters(pool)
        overview = OverviewStore(pool)
        feed = OverviewFeed(overview, bounds: bounds, logger: logger)
        ids = AccountIDs(pool)
        self.accountIDs = accountIDs
        self.secrets = secrets
        self.apps = apps
        self.rules = rules
    }

    /// All paths.
    package var endpoints: [AdminEndpoint] {
        [
            overviewShow, overviewStream,
            letterList, letterShow, letterRehearse, letterReplay, letterDiscard,
            jobList, jobShow, jobResults, jobMake, jobStop,
            auditList,
            searchMake, searchShow, customerShow, storyShow, notificationShow,
            filterList, filterSave, filterRemove,
            accountList, accountShow,
            extend, grant, revoke, unrevoke, changeTier,
            movePurchase,
            orderList, orderShow,
            refundList, refundShow, refundCreate, refundApprove, refundReject, refundCancel, refundRecord,
            figureShow, figureRows, orderStatistics, supportStatistics, accountStatistics, userFigure, usageFigure,
            dueShow, dueList, expiringList, consumptionList,
            extensionList, extensionShow, extensionClose,
            endpointList, endpointShow, endpointRotate, endpointTest, deliveryList, deliveryShow, deliveryResend,
            catalogShow, catalogDiff, catalogApply,
            healthShow,
            noteList, noteAdd,
            staffList, staffShow, staffAdd, staffRemove, staffToken, staffTokenRevoke,
        ]
    }

    // MARK: The caller

    /// The calling member.
    func member(_ request: AdminRequest) throws(APIProblem) -> StaffMember {
        guard let member = request.caller else {
            throw APIProblem(.tokenMissing, ProblemText("this path needs a token", "此接口需要令牌", "此介面需要權杖"))
        }
        return member
    }

    /// The calling member, if the rules allow the act. Otherwise the try is put on record and refused.
    func member(_ request: AdminRequest, for task: StaffTask) async throws -> StaffMember {
        let member = try member(request)
        let isOfAccount = StaffRules.rule(for: task.kind).isOfAccount && member.scope != .all
        let catalogApps = isOfAccount ? try await catalogApps : []
        guard
            let refusal = rules.refusal(of: task, by: member.role, of: member.scope, catalogApps: catalogApps)
        else { return member }
        throw try await problem(refusal, request, member)
    }

    /// The problem of a refusal. The try is on record, except where only a value is missing.
    func problem(_ refusal: StaffRefusal, _ request: AdminRequest, _ member: StaffMember) async throws -> APIProblem {
        // What is missing is no try.
        if refusal == .noReason {
            return APIProblem(.invalidRequest, ProblemText(english: "reason is missing: \(refusal)"))
        }
        try await tries.note(request.route, by: member)
        return APIProblem(.forbidden, ProblemText(english: "\(refusal)"), log: ["staff": "\(member.logName)"])
    }

    private var catalogApps: Set<String> {
        get async throws { Set(try await accounts.current()?.catalog.products.map(\.bundleID) ?? []) }
    }

    /// Whether all apps of the catalog are a member's: then accounts are, too.
    func hasAccounts(_ member: StaffMember) async throws -> Bool {
        if member.scope == .all { return true }
        return member.scope.isSuperset(of: try await catalogApps)
    }

    // MARK: The account

    /// The account of a reference; nil for what names none.
    func account(_ text: String) async throws -> AccountIdentity? {
        guard (1...1000).contains(text.unicodeScalars.count), let reference = AccountReference(text) else { return nil }
        if case .token(let token) = reference { return AccountIdentity(token: token) }
        do {
            return reference.account(by: try await ids.rule(setting: accountIDs))
        } catch let refusal as AccountIDRefusal {
            throw APIProblem.unavailable(ProblemText(english: "accounts cannot be named: \(refusal)"), retryAfter: 60)
        }
    }

    /// The account that a query or a body names.
    /// - Throws: ``APIProblem``, 400, for what names none.
    func namedAccount(_ text: String) async throws -> AccountIdentity {
        guard let account = try await account(text) else {
            throw APIProblem(.invalidRequest, "account takes an id, or token: and an appAccountToken")
        }
        return account
    }

    /// The account that the path names.
    /// - Throws: ``APIProblem``, 404, for what names none.
    func accountOfPath(_ request: AdminRequest) async throws -> AccountIdentity {
        guard let account = try await account(request.path["account"] ?? "") else { throw Self.noAccount }
        return account
    }

    static let noAccount = APIProblem(.notFound, "no such account is known here")

    // MARK: What is sent

    /// The body, which the endpoint's schema has checked.
    static func body(_ request: AdminRequest) throws(APIProblem) -> JSONObject {
        guard let body = request.body else { throw APIProblem(.invalidRequest, "the body must be a JSON object") }
        return body
    }

    /// The reason in a body.
    static func reason(_ body: JSONObject) throws(APIProblem) -> String {
        guard let reason = body.string("reason"), reason.contains(where: { !$0.isWhitespace }) else {
            throw APIProblem(.invalidRequest, "reason is blank: say why, for the record")
        }
        return reason
    }

    /// Why a body of these members that fits may be refused.
    static let argued = "a reason is not blank"

    /// A body that has no other members.
    static func body(_ name: String, _ members: [ValueSchema.Property]) -> APIBody {
        let reason = ValueSchema.Property.required("reason", .string(.init(1, 1000)), "Why, for the record.")
        return APIBody(
            .named(name, .strict(StrictObject(what: "an act", members: members + [reason]))), most: 16 << 10)
    }

    static let days = ValueSchema.Property.required("days", .integer(1...36_500), "Days of 24 hours.")
    static let tier = ValueSchema.Property.required(
        "tier", .string(.init(1, 100)), "The tier, as the catalog calls it.")
}
