import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import HTTPTypes
import Operations
import OrderStore
import PurchaseStore
import Staff
import Subscriptions

extension AdminHandlers {
    /// The most hits of a search.
    private static let mostHits = 100

    /// What leads to a customer.
    var searchMake: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/search", "search",
            "Finds what leads to a customer: an account's id or token, a name or mail address, a transaction, an original transaction, an order line, an order's number. The text stands in the body alone; GET /admin/search/{id} gives the same for an hour.",
            for: .staff, successes: [.init("What it leads to.", AdminShapes.search.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            let body = try Self.body(request)
            let text = (body.string("text") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty else { throw APIProblem(.invalidRequest, "text is blank") }
            let search = try await find(
                text, in: body.string("environment") ?? Environment.production.rawValue, for: member)
            let id = try await searches.keep(search, of: member.actor)
            let shown = try await shown(search, id, Opening(shortening: member, audit), to: member)
            return APIAnswer(.ok, AdminShapes.search.value(of: shown))
        }
        endpoint.body = APIBody(
            .named(
                "SearchRequest",
                .strict(
                    StrictObject(
                        what: "a search",
                        members: [
                            .required(
                                "text", .string(.init(1, 1000)),
                                "An id in whole; the beginning of an order's number, eight digits or more of a token, and for members that may open personal texts the beginning of a name or mail address."
                            ),
                            .optional("environment", Environment.schema, "Production by default."),
                        ]))), most: 16 << 10)
        endpoint.refusesFitting = "text is not blank"
        return endpoint
    }

    /// The same again.
    var searchShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/search/{id}", "getSearch",
            "What a search led to, for an hour and for the member who searched: of each account what is known now.",
            for: .staff, successes: [.init("What it led to.", AdminShapes.search.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            guard let id = UUID(uuidString: request.path["id"] ?? ""),
                let search = try await searches.search(id, of: member.actor)
            else { throw APIProblem(.noSearch, "no such search is kept here") }
            let opening = try await Opening(request, isExport: false, of: ("search", id.uuidString.lowercased()), self)
            let shown = try await shown(search, id, opening, to: member)
            try await opening.note(shown.openedTexts)
            return APIAnswer(.ok, AdminShapes.search.value(of: shown))
        }
        endpoint.pathSchemas = ["id": .string(.init(1, 100))]
        endpoint.query = Opening.query
        endpoint.problems = [.noSearch]
        return endpoint
    }

    // MARK: Finding

    private func find(_ text: String, in environment: String, for member: StaffMember) async throws -> KeptSearch {
        var search = KeptSearch(in: environment)
        guard !text.utf8.contains(0) else { return search }
        var hits: [KeptSearch.Hit]
        if let prefix = OrderNumberPrefix(text), prefix.isWhole {
            hits = try await orders.orders(naming: text, under: nil).map { Self.hit($0) }
        } else if OrderNumberPrefix(text) != nil {
            hits = try await numbered(text, in: environment, member, &search)
        } else {
            let found = try await finder.find(text)
            search.knowsIDs = found.knowsIDs
            search.isMore = found.isMore
            hits = found.accounts.flatMap { account -> [KeptSearch.Hit] in
                let (byID, byToken) = found.ways(to: account, from: text)
                var ways: [KeptSearch.Kind] = byID ? [.account] : []
                if byToken { ways.append(.token) }
                return ways.map { KeptSearch.Hit($0, token: account.token) }
            }
            // How a name goes on is not for all to learn, letter by letter.
            let mayOpen = rules.refusal(of: .openPersonalText, by: member.role, of: member.scope) == nil
            let apps = try await hasAccounts(member) ? nil : Self.apps(of: member.scope)
            let people = try await accounts.accounts(named: text, isWhole: !mayOpen, apps: apps)
            search.isMore = search.isMore || people.isMore
            hits += people.tokens.map { KeptSearch.Hit(.person, token: $0) }
            hits += try await purchases(found.purchases, named: text)
        }
        let (visible, places) = try await self.visible(hits, to: member)
        func environments(_ hit: KeptSearch.Hit) -> Set<String> {
            if let purchase = hit.purchase { return [purchase.environment] }
            return Set(hit.token.flatMap { places[$0] }?.map(\.environment) ?? [])
        }
        // An account without any purchase is of all environments.
        let isHere = visible.map { hit in
            let those = environments(hit)
            return those.isEmpty || those.contains(environment)
        }
        let here = zip(visible, isHere).filter(\.1).map(\.0)
        let elsewhere = zip(visible, isHere).filter { !$0.1 }.map(\.0)
        search.others = elsewhere.reduce(into: Set<String>()) { $0.formUnion(environments($1)) }.sorted()
        search.isElsewhere = here.isEmpty && !elsewhere.isEmpty
        let all = here.isEmpty ? elsewhere : here
        search.hits = Array(all.prefix(Self.mostHits))
        search.isMore = search.isMore || all.count > Self.mostHits
        search.isOrderOfApple = visible.isEmpty && text.wholeMatch(of: /M[A-Z0-9]{7,}/) != nil
        return search
    }

    /// Orders whose numbers begin with a text: those of one environment, or where it has none, those of the other.
    private func numbered(
        _ text: String, in environment: String, _ member: StaffMember, _ search: inout KeptSearch
    ) async throws -> [KeptSearch.Hit] {
        var filter = OrderFilter()
        (filter.search, filter.scope) = (text, member.scope)
        let others = [Environment.production, .sandbox].map(\.rawValue).filter { $0 != environment }
        for place in [environment] + others {
            filter.environment = place
            let page = try await orders.list(filter, under: nil)
            guard page.elements.isEmpty else {
                search.isMore = page.next != nil
                return page.elements.map { Self.hit($0) }
            }
        }
        return []
    }

    private static func hit(_ order: ListedOrder) -> KeptSearch.Hit {
        KeptSearch.Hit(
            .order, token: order.token,
            purchase: PurchaseKey(
                environment: order.environment, bundleID: order.bundleID,
                originalTransactionID: order.originalTransactionID ?? order.key),
            transactionID: order.transactionID, productID: order.productID, purchasedAt: order.startedAt,
            order: order.number)
    }

    /// Purchases with their owners and their orders.
    private func purchases(_ found: [FoundPurchase], named text: String) async throws -> [KeptSearch.Hit] {
        guard !found.isEmpty else { return [] }
        let owners = try await orders.owners(of: Array(Set(found.map(\.key))))
        let named = try await orders.orders(naming: text, under: nil)
        return found.map { purchase in
            let key = purchase.key
            let order = named.first { order in
                order.environment == key.environment && order.bundleID == key.bundleID
                    && [purchase.transactionID, key.originalTransactionID].contains(order.key)
            }
            let kind: KeptSearch.Kind =
                switch purchase.number {
                case .purchase: .purchase
                case .transaction: .transaction
                case .order: .orderLine
                case .token: .token
                }
            return KeptSearch.Hit(
                kind, token: owners[key], purchase: key, transactionID: purchase.transactionID,
                productID: purchase.productID, purchasedAt: purchase.purchasedAt, order: order?.number)
        }
    }

    // MARK: Showing

    /// Those hits that are the member's to see, and where their accounts have purchases of the member's apps.
    private func visible(
        _ hits: [KeptSearch.Hit], to member: StaffMember
    ) async throws -> ([KeptSearch.Hit], [UniqueIdentifier: [AccountPlace]]) {
        let all = try await accounts.places(of: Array(Set(hits.compactMap(\.token))))
        let places = all.mapValues { $0.filter { member.scope.sees(app: $0.bundleID) } }
        let hasAccounts = try await hasAccounts(member)
        let visible = hits.filter { hit in
            if let purchase = hit.purchase { return member.scope.sees(app: purchase.bundleID) }
            return hasAccounts || hit.token.flatMap { places[$0] }?.isEmpty == false
        }
        return (visible, places)
    }

    private func shown(
        _ search: KeptSearch, _ id: UUID, _ opening: Opening, to member: StaffMember
    ) async throws -> ShownSearch {
        let (hits, places) = try await self.visible(search.hits, to: member)
        let tokens = Set(hits.compactMap(\.token))
        let known = try await accounts.known(tokens)
        let byToken = Dictionary(known.map { ($0.token, $0) }) { first, _ in first }
        let profiles = try await accounts.profiles(of: Array(tokens))
        return ShownSearch(
            id: id, search: search,
            hits: hits.map { hit in
                ShownHit(
                    hit: hit, account: hit.token.flatMap { byToken[$0] },
                    profile: hit.token.flatMap { profiles[$0] },
                    places: hit.token.flatMap { places[$0] } ?? [], opening: opening)
            })
    }
}
