import APIKit
import AdminAPI
import AppStorePayloads
import Base
import Staff

/// Filters of lists that the staff shares: links above each list, and forms that keep the one in use and remove another.
enum FilterPages {
    static var pages: [Page] {
        [
            .post("/filters", "filter_save", in: nil) { try await save($0) },
            .post("/filters/remove", "filter_remove", in: nil) { try await remove($0) },
        ]
    }

    /// Where a list stands among the pages.
    private static func place(of page: FilterPage, _ query: [String: String?] = [:]) -> Place {
        Place(parts: [page == .accounts ? "customers" : page.rawValue], query: query)
    }

    /// What of a list's query a filter of it may have, as it is now.
    private static func qualifiers(of page: FilterPage, _ call: PageCall) -> [String: String] {
        var values = call.kept(page.qualifiers).compactMapValues { $0 }
        values["environment"] = nil
        if page.qualifiers.contains("environment"), call.speaker.environment != Environment.production.rawValue {
            values["environment"] = call.speaker.environment
        }
        return values
    }

    /// Links to the filters of a list.
    static func links(_ saved: [JSONObject], of page: FilterPage, _ call: PageCall) -> [Block] {
        guard !saved.isEmpty else { return [] }
        let now = qualifiers(of: page, call)
        return [
            .links(
                saved.map { filter in
                    let own = values(of: filter)
                    return PageLink(
                        filter.string("name") ?? "–", place(of: page, own.mapValues { Optional($0) }),
                        isCurrent: own == now)
                })
        ]
    }

    private static func values(of filter: JSONObject) -> [String: String] {
        let members = filter.object("qualifiers")?.members ?? []
        return Dictionary(members.compactMap { member in member.value.string.map { (member.name, $0) } }) {
            first, _ in first
        }
    }

    /// What keeps the filter in use, and what removes one; none where the member may do neither.
    static func forms(_ saved: [JSONObject], of page: FilterPage, _ call: PageCall) -> [Block] {
        guard call.may(.saveFilters) else { return [] }
        let speaker = call.speaker
        var forms: [PageForm] = []
        let now = qualifiers(of: page, call)
        if !now.isEmpty, !saved.contains(where: { values(of: $0) == now }) {
            var hidden = ["page": page.rawValue, "once": SentForms.number()]
            for (name, value) in now { hidden["filter-\(name)"] = value }
            forms.append(
                .act(
                    speaker.word("filter_save"), Place("filters"),
                    [PageForm.Field("name", speaker.word("filter_name"), .line(most: 60), isRequired: true)],
                    speaker.word("filter_save"), about: speaker.word("filter_save_about"), hidden: hidden))
        }
        let choices = saved.compactMap { filter -> PageForm.Field.Choice? in
            filter.integer("id").map { PageForm.Field.Choice("\($0)", filter.string("name") ?? "\($0)") }
        }
        if !choices.isEmpty {
            forms.append(
                .act(
                    speaker.word("filter_remove"), Place("filters", "remove"),
                    [PageForm.Field("filter", speaker.word("filter_name"), .choice(choices))],
                    speaker.word("filter_remove"),
                    hidden: ["page": page.rawValue, "once": SentForms.number()], isDangerous: true))
        }
        return forms.map { Block.form($0) }
    }

    private static func save(_ call: PageCall) async throws -> PageOutcome {
        let page = try list(call)
        let names = page.qualifiers.filter { call.sent("filter-\($0)") != nil }
        let members = names.map { JSONValue.Member($0, .string(call.sent("filter-\($0)") ?? "")) }
        _ = try await call.send(
            "saveFilter",
            [
                "page": .string(page.rawValue), "name": .string(call.sent("name") ?? ""),
                "qualifiers": .object(members),
            ])
        let query = Dictionary(names.map { ($0, call.sent("filter-\($0)")) }) { first, _ in first }
        return .redirect(place(of: page, query))
    }

    private static func remove(_ call: PageCall) async throws -> PageOutcome {
        let page = try list(call)
        _ = try await call.send("removeFilter", path: ["id": call.sent("filter") ?? ""], [:])
        return .redirect(place(of: page))
    }

    private static func list(_ call: PageCall) throws(APIProblem) -> FilterPage {
        guard let page = FilterPage(rawValue: call.sent("page") ?? "") else {
            throw APIProblem(.invalidRequest, "this list has no saved filters")
        }
        return page
    }
}
