import APIKit
import AccountStore
import Accounts
import Base
import HTTPTypes
import Staff

extension AdminHandlers {
    /// Accounts by what they are now.
    var accountList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/subscriptions", "listAccounts",
            "Accounts by what they are now, in the order of their tokens. One with purchases in two environments is listed in both.",
            for: .staff,
            successes: [
                accountPages(AccountFilter(), .all).success("AccountPage", "A page of accounts.")
            ]
        ) { try await answerAccounts($0) }
        endpoint.query =
            AdminList<ShownListedAccount>.query + Opening.query + [
                .init("status", AccountStatus.schema, "Only with this status."),
                .init("tier", .string(.init(1, 100)), "Only with this tier of the catalog."),
                .init(
                    "product", .string(.init(1, 255)),
                    "Accounts with this product (Apple's id) now, or with a status from it."),
                .init(
                    "app", .string(.init(1, 255)), "Accounts with a product of this app (bundle id), in the same way."),
                .init("environment", Environment.schema, "Only in this environment."),
                .init(
                    "endingWithin", .integer(0...3650),
                    "Accounts with an access that ends within so many days, and that nothing renews."),
                .init("erased", .boolean, "Only accounts that were erased."),
            ]
        endpoint.problems = [.noCatalog, .unknownTier]
        endpoint.refusesFitting =
            "after is next of a page before, the catalog has the tier, a file of opened texts has a reason"
        return endpoint
    }

    private func answerAccounts(_ request: AdminRequest) async throws -> APIAnswer {
        let member = try await member(request, for: .read)
        var filter = AccountFilter()
        let hasAccounts = try await hasAccounts(member)
        if !hasAccounts, case .some(let apps) = member.scope { filter.apps = apps.sorted() }
        filter.status = request.query["status"].flatMap { AccountStatus(rawValue: $0) }
        (filter.tier, filter.productID, filter.bundleID) = (
            request.query["tier"], request.query["product"], request.query["app"]
        )
        // That an account has another app's product is not theirs to know, not even by asking for it.
        if let app = filter.bundleID, !member.scope.sees(app: app) { filter.apps = [] }
        if !hasAccounts, filter.bundleID == nil, filter.productID != nil {
            throw APIProblem(.invalidRequest, "staff of some apps name the app of a product: app")
        }
        filter.environment = request.query["environment"]
        filter.endingWithinDays = request.query["endingWithin"].flatMap { Int($0) }
        filter.isErased = request.query["erased"] == "true"
        do {
            if let tier = filter.tier { _ = try await accounts.products(ofTier: tier) }
            return try await accountPages(filter, member.scope).answer(request, self)
        } catch let refusal as ActRefusal { throw refusal.problem }
    }

    private func accountPages(_ filter: AccountFilter, _ scope: StaffScope) -> AdminList<ShownListedAccount> {
        AdminList(
            name: "accounts", shape: AdminShapes.listedAccount, subject: ("accounts", "list"),
            cursorParts: AccountStore.cursorParts, takes: { UniqueIdentifier($0.parts[0]) != nil },
            openedTexts: { $0.openedTexts }
        ) { [accounts] opening, cursor, limit in
            try await accounts.list(filter, after: cursor, limit: limit).map {
                ShownListedAccount($0, opening, to: scope)
            }
        }
    }

    /// An account, with the reasons of its tier and status.
    var accountShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/subscriptions/{account}", "getAccount",
            "An account: its tier, its status, its purchases, and why.", for: .staff,
            successes: [.init("The account.", AdminShapes.account.schema)]
        ) { try await answerAccount($0) }
        endpoint.pathSchemas = Self.accountPath
        endpoint.query =
            Opening.query + [.init("environment", Environment.schema, "Production by default.")]
        endpoint.problems = [.notFound, .noCatalog]
        return endpoint
    }

    static let accountPath = ["account": ValueSchema.string(.init(1, 1000))]

    private func answerAccount(_ request: AdminRequest) async throws -> APIAnswer {
        let member = try await member(request, for: .read)
        let account = try await accountOfPath(request)
        let opening = try await Opening(
            request, isExport: false, of: ("account", account.token.description), self)
        guard let view = try await view(account, in: request.query["environment"] ?? Environment.production.rawValue)
        else { throw Self.noAccount }
        let hasAccounts = try await hasAccounts(member)
        let shown = ShownAccount(view, opening, to: member.scope, showingActs: hasAccounts)
        // An account without a purchase of their apps is like one that does not exist.
        guard hasAccounts || !shown.purchases.isEmpty else { throw Self.noAccount }
        try await opening.note(shown.openedTexts)
        return APIAnswer(.ok, AdminShapes.account.value(of: shown))
    }

    /// What is known of an account; one that the app has only asked about has what everybody has.
    /// - Parameter instant: at which; nil for now.
    func view(
        _ account: AccountIdentity, in environment: String, at instant: Timestamp? = nil
    ) async throws -> AccountView? {
        do {
            if var view = try await accounts.history(of: account.token, in: environment, at: instant) {
                view.account = view.account ?? account.id
                return view
            }
        } catch let refusal as ActRefusal { throw refusal.problem }
        guard instant == nil,
            let handed = try await accounts.known([account.token]).first(where: { !$0.isCustomer })
        else { return nil }
        var view = try await accounts.view(account.token, in: environment)
        view.account = handed.account ?? account.id
        return view
    }
}
