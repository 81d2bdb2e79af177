import APIKit
import AccountStore
import Accounts
import AppleRecords
import Base
import EventStore
import HTTPTypes
import OrderStore
import Postgres
import Staff
import Subscriptions

extension AdminHandlers {
    /// How many events a customer's answer has.
    private static let customerEvents = 25

    /// A customer, as a page about them shows it.
    var customerShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/customers/{account}", "getCustomer",
            "A customer: what they have paid, what they are at an instant and why, their purchases, orders, acts of staff, and events with their deliveries.",
            for: .staff, successes: [.init("The customer.", AdminShapes.customer.schema)]
        ) { try await answerCustomer($0) }
        endpoint.pathSchemas = Self.accountPath
        endpoint.query =
            Opening.query + [
                .init("environment", Environment.schema, "Production by default."),
                .init(
                    "at", .string(.init(1, 40)),
                    "What the account is at this instant, such as 2026-01-31T12:00:00Z, by all that is known now, with the orders, events, deliveries and consent that there were by then; by default now."
                ),
            ]
        endpoint.problems = [.notFound, .noCatalog]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    private func answerCustomer(_ request: AdminRequest) async throws -> APIAnswer {
        let member = try await member(request, for: .read)
        let identity = try await accountOfPath(request)
        let (token, instant) = (identity.token, try Self.instant("at", request))
        let environment = request.query["environment"] ?? Environment.production.rawValue
        let hasAccounts = try await hasAccounts(member)
        let places = (try await accounts.places(of: [token])[token] ?? []).filter {
            member.scope.sees(app: $0.bundleID)
        }
        // An account without a purchase of their apps is like one that does not exist.
        guard hasAccounts || !places.isEmpty, var account = try await accounts.known([token]).first else {
            throw Self.noAccount
        }
        account.account = account.account ?? (account.erasedAt == nil ? identity.id : nil)
        let opening = try await Opening(request, isExport: false, of: ("account", token.description), self)
        let view = try await view(identity, in: environment, at: instant)
        var filter = OrderFilter()
        (filter.account, filter.environment, filter.scope, filter.at) = (token, environment, member.scope, instant)
        let page = try await orders.list(filter, under: accounts.current()?.catalog)
        let consent =
            hasAccounts
            ? try await consents.history(of: identity).first { consent in
                instant.map { Timestamp(consent.recordedAt) <= $0 } ?? true
            } : nil
        let shown = ShownCustomer(
            account: account, profile: try await accounts.profiles(of: [token])[token], places: places,
            environment: environment,
            lifetime: try await orders.lifetime(of: token, in: environment, scope: member.scope, at: instant),
            standing: view.map { ShownAccount($0, opening, to: member.scope, showingActs: hasAccounts) },
            features: try await features(of: view, isNow: instant == nil), consent: consent,
            orders: page.elements.map { ShownListedOrder($0, opening) }, nextOrders: page.next,
            events: try await latestEvents(
                about: token, in: environment, to: member, hasAccounts: hasAccounts, at: instant),
            opening: opening)
        try await opening.note(shown.openedTexts)
        return APIAnswer(.ok, AdminShapes.customer.value(of: shown))
    }

    /// The features of the tier that an account has. What is used of them now is no past's.
    private func features(of view: AccountView?, isNow: Bool) async throws -> [ShownFeature] {
        guard let view, let catalog = view.catalog else { return [] }
        let tier = view.current.tier
        let counts =
            isNow ? try await usage.current(catalog.counted(in: tier), of: view.token, in: catalog.timeZone) : []
        return catalog.features.map { feature in
            ShownFeature(
                id: feature.id, limit: feature.limit(in: tier), used: counts.first { $0.feature == feature.id }?.used)
        }
    }

    /// The latest events that are the member's to see, the latest first.
    private func latestEvents(
        about token: UniqueIdentifier, in environment: String, to member: StaffMember, hasAccounts: Bool,
        at instant: Timestamp?
    ) async throws -> [ShownCustomerEvent] {
        let page = try await events.latest(Self.customerEvents, of: token, in: environment, at: instant)
        let latest = page.events.filter { hasAccounts || member.scope.sees(app: $0.bundleID) }
        let deliveries = try await endpointStore.deliveries(
            of: latest.map(\.id), about: token, in: environment, at: instant)
        let byEvent = Dictionary(grouping: deliveries, by: \.eventID)
        return latest.reversed().map { ShownCustomerEvent(event: $0, deliveries: byEvent[$0.id] ?? []) }
    }
}
