import APIKit
import AccountStore
import AppStorePayloads
import Base
import HTTPTypes
import Logging
import Staff

extension AdminHandlers {
    /// The most qualifiers of a filter.
    private static let mostQualifiers = 10

    /// What the staff saved.
    var filterList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/filters", "listFilters",
            "The filters that the staff shares, by list and name. Staff of some apps see those that name no other app.",
            for: .staff, successes: [.init("The filters.", AdminShapes.savedFilters)]
        ) { request in
            let member = try await member(request, for: .read)
            let saved = try await filters.list(of: request.query["page"])
            return APIAnswer(
                .ok,
                .object([
                    .init("filters", AdminShapes.savedFilter.values(of: saved.filter { Self.isSeen($0, by: member) }))
                ]))
        }
        endpoint.query = [.init("page", FilterPage.schema, "Only those of this list.")]
        return endpoint
    }

    /// Whether a filter names no app that is not the member's.
    private static func isSeen(_ filter: SavedFilter, by member: StaffMember) -> Bool {
        filter.qualifiers.allSatisfy { $0.name != "app" || member.scope.sees(app: $0.value) }
    }

    /// A new one.
    var filterSave: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/filters", "saveFilter",
            "Saves a filter of a list for all of the staff. Its name and values are seen by all, and say nothing of a person.",
            for: .staff, successes: [.init(.created, "It is saved.", AdminShapes.savedFilter.schema)]
        ) { request in
            let body = try Self.body(request)
            let member = try await member(request, for: .saveFilters)
            guard let page = FilterPage(rawValue: body.string("page") ?? "") else {
                throw APIProblem(.invalidRequest, "page takes a list that has saved filters")
            }
            let name = try Self.filterName(body)
            let qualifiers = try qualifiers(body, of: page, for: member)
            do {
                let saved = try await filters.add(name, of: page.rawValue, qualifiers, by: member.actor)
                return APIAnswer(
                    .created, AdminShapes.savedFilter.value(of: saved), log: ["filter": "\(saved.id)"])
            } catch let refusal as SavedFilterRefusal { throw refusal.problem }
        }
        endpoint.body = APIBody(
            .named(
                "SaveFilterRequest",
                .strict(
                    StrictObject(
                        what: "a filter",
                        members: [
                            .required("page", FilterPage.schema, "The list, as its path names it."),
                            .required("name", .string(.init(1, 60)), "What the staff calls it: no mail address."),
                            .required(
                                "qualifiers", .map(.string(.init(1, 255)), 1...Self.mostQualifiers),
                                "Members of the list's query with codes and ids of products and apps: no account, no text that is searched for."
                            ),
                        ]))), most: 16 << 10)
        endpoint.problems = [.filterTaken, .tooManyFilters]
        endpoint.refusesFitting =
            "a name is not blank and has no @, and qualifiers are members of the list's query that name no person"
        endpoint.isLogged = true
        return endpoint
    }

    private static func filterName(_ body: JSONObject) throws(APIProblem) -> String {
        let name = body.string("name") ?? ""
        guard name.contains(where: { !$0.isWhitespace }), !name.contains("@"),
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw APIProblem(.invalidRequest, "name takes 1 to 60 characters on one line, and no mail address") }
        return name
    }

    /// The qualifiers of a body: of those that the list's filters may have, with values that fit its query.
    private func qualifiers(
        _ body: JSONObject, of page: FilterPage, for member: StaffMember
    ) throws(APIProblem) -> [(name: String, value: String)] {
        let members = body.object("qualifiers")?.members ?? []
        guard (1...Self.mostQualifiers).contains(members.count) else {
            throw APIProblem(.invalidRequest, "qualifiers takes 1 to 10 members")
        }
        let query = page.query(self)
        var qualifiers: [(name: String, value: String)] = []
        for given in members {
            guard page.qualifiers.contains(given.name), let known = query.first(where: { $0.name == given.name })
            else {
                throw APIProblem(
                    .invalidRequest,
                    ProblemText(english: "qualifiers of this list are \(page.qualifiers.joined(separator: ", "))"))
            }
            guard let value = given.value.string, value.wholeMatch(of: /[A-Za-z0-9._-]{1,255}/) != nil else {
                throw APIProblem(
                    .invalidRequest,
                    ProblemText(english: "\(known.name) takes letters, digits, periods, hyphens and underscores here"))
            }
            if let fault = known.schema.fault(inQuery: value, known.name) { throw APIProblem(.invalidRequest, fault) }
            qualifiers.append((known.name, value))
        }
        if let app = qualifiers.first(where: { $0.name == "app" })?.value, !member.scope.sees(app: app) {
            throw APIProblem(.invalidRequest, "app takes one of your apps")
        }
        return qualifiers
    }

    /// The end of one.
    var filterRemove: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/filters/{id}/remove", "removeFilter", "Removes a filter, for all of the staff.",
            for: .staff, successes: [.init("It is removed: as it was.", AdminShapes.savedFilter.schema)]
        ) { request in
            let member = try await member(request, for: .saveFilters)
            guard let id = Self.number(request.path["id"]), let saved = try await filters.filter(id),
                Self.isSeen(saved, by: member), try await filters.remove(id)
            else { throw APIProblem(.noFilter, "no such filter is kept here") }
            return APIAnswer(.ok, AdminShapes.savedFilter.value(of: saved), log: ["filter": "\(id)"])
        }
        endpoint.pathSchemas = ["id": .string(.init(1, 20))]
        endpoint.problems = [.noFilter]
        endpoint.isLogged = true
        return endpoint
    }
}
