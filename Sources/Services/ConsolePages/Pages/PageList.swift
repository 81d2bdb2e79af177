import APIKit
import AccountStore
import AdminAPI
import AppStorePayloads
import Base

/// A list that the admin API answers, as a page: a form that narrows it down, its rows, where it goes on, personal texts in full, and its file.
struct PageList: Sendable {
    /// The endpoint's name.
    let endpoint: String
    /// The member of its answer that has the rows.
    let rows: String
    /// Where it stands: a part of a path, which is also what `word` of the kind `list` calls it.
    let place: String
    /// The section that it begins, which gives it its heading; nil where it has one of its own.
    var section: Section?
    /// The values of the query that narrow it down, as the endpoint takes them, and as a line of qualifiers has them.
    var filters: [String] = []
    /// Those of them that links bring, without a field: they stay where the others are changed.
    var held: [String] = []
    /// That of them that is a text to look for, which a line of qualifiers has without a name; nil for none.
    var free: String?
    /// As what the staff saves filters of it; nil where none are saved.
    var saved: FilterPage?
    /// Those of them that are instants: forms have them on the reader's clock.
    var instants: [String] = []
    /// Whether the environment that the page shows does not narrow it down.
    var isEverywhere = false
    /// The members of a row that are personal texts; with none, there is nothing to open.
    var texts: [String] = []
    /// What is said where it has no rows, in words.
    let empty: @Sendable (Speaker) -> String
    /// Its columns.
    let columns: @Sendable (Speaker) -> [PageTable.Column]
    /// What each row shows.
    let row: @Sendable (JSONObject, Speaker) -> [Shown]
    /// The fields of its form.
    var fields: @Sendable (PageCall) -> [PageForm.Field] = { _ in [] }
    /// The commands that give the same.
    var commands: @Sendable (PageCall) -> [String] = { _ in [] }

    /// What a page shows beside the list.
    struct Around: Sendable {
        /// Above it.
        var above: [Block] = []
        /// Below it, by the answer.
        var below: @Sendable (JSONObject) throws -> [Block] = { _ in [] }
    }

    /// Its heading.
    func title(_ speaker: Speaker) -> String {
        section.map { speaker.word(of: "section", $0.rawValue) } ?? speaker.word(of: "list", place)
    }

    /// The page, its file, and where texts can be opened, what opens them.
    /// - Parameter around: what stands around the list.
    func pages(
        _ name: String, in section: Section, _ around: @escaping @Sendable (PageCall) async throws -> Around
    ) -> [Page] {
        var pages: [Page] = [
            .get("/\(place)", name, in: section) { call in
                do throws(APIProblem) {
                    if let narrowed = try narrowed(call) { return .redirect(narrowed) }
                } catch {
                    return .page(try await content(call, error, around: try await around(call)))
                }
                return .page(try await content(call, around: try await around(call)))
            },
            .get("/\(place).csv", "\(name)_file", in: section) {
                try await $0.file(endpoint, query($0), isEverywhere: isEverywhere)
            },
        ]
        if !texts.isEmpty {
            pages.append(
                .post("/\(place)", "\(name)_opened", in: section) {
                    .page(try await content($0, isOpened: true, around: try await around($0)))
                })
        }
        return pages
    }

    /// Where a line of qualifiers leads that was sent; nil where none was.
    private func narrowed(_ call: PageCall) throws(APIProblem) -> Place? {
        guard let line = call.query["q"] else { return nil }
        let values = try QualifierLine(line, names: filters.filter { !held.contains($0) }, free: free).values
        return Place(place, query: call.kept(held).merging(values.mapValues { Optional($0) }) { _, own in own })
    }

    /// The page.
    /// - Parameter problem: why something was not done.
    func content(
        _ call: PageCall, isOpened: Bool = false, _ problem: APIProblem? = nil, around: Around = Around()
    ) async throws -> PageContent {
        let speaker = call.speaker
        let kept = call.kept(filters)
        var query = query(call)
        query["after"] = .some(call.value("after"))
        if isOpened { query["open"] = "true" }
        let answer = try await call.ask(endpoint, query, isEverywhere: isEverywhere)
        let found = answer.objects(rows)
        var table = PageTable(
            title(speaker), columns(speaker), found.map { row($0, speaker) }, empty: empty(speaker))
        table.next = answer.string("next").map { Place(place, query: kept).with("after", $0) }
        table.file = Place("\(place).csv", query: kept)
        if call.value("after") == nil, !isOpened, speaker.instant == nil { table.fresh = Place(place, query: kept) }
        var blocks = around.above
        if let problem { blocks.append(.note(ErrorPage.sentence(problem, speaker), .bad)) }
        var shared: [JSONObject] = []
        if let saved { shared = try await call.ask("listFilters", ["page": saved.rawValue]).objects("filters") }
        if let saved { blocks += FilterPages.links(shared, of: saved, call) }
        blocks += narrowing(call)
        if let looked = answer.integer("lookedThrough") {
            let sentence = speaker.word("looked_through", ["number": speaker.number(looked)])
            blocks.append(.note(sentence, .calm, table.next.map { PageLink(speaker.word("go_on"), $0) }))
        }
        blocks.append(.table(table))
        if !texts.isEmpty {
            let withText = found.filter { row in texts.contains { row[$0]?.string != nil } }
            let here = Place(place, query: call.kept(filters + ["after"]))
            blocks += Opening.form(call, at: here, isOpened, if: withText)
        }
        blocks += try around.below(answer)
        if let saved { blocks += FilterPages.forms(shared, of: saved, call) }
        var content = PageContent(title(speaker), blocks, commands: commands(call))
        if let problem { content.status = problem.code.status }
        return content
    }

    /// The line of qualifiers, the same as fields, and a way back to the whole list from what a link has narrowed down.
    private func narrowing(_ call: PageCall) -> [Block] {
        let speaker = call.speaker
        let names = filters.filter { !held.contains($0) }
        let stay = Place(place, query: call.kept(held))
        var blocks: [Block] = []
        if !names.isEmpty {
            let values = call.kept(names).compactMapValues { $0 }
            let line = call.query["q"] ?? QualifierLine.text(values, names: names, free: free)
            let field = PageForm.Field(
                "q", speaker.word("qualifiers"), .line(most: QualifierLine.longest), line,
                hint: names.map { $0 == free ? speaker.word("qualifier_text") : "\($0):" }.joined(separator: " "))
            blocks.append(.form(.filter(stay, [field], speaker.word("filter"))))
        }
        let fields = fields(call)
        if !fields.isEmpty { blocks.append(.form(.filter(stay, fields, speaker.word("filter")))) }
        if held.contains(where: { call.value($0) != nil }) {
            blocks.append(.links([PageLink(speaker.word("all"), Place(place))]))
        }
        return blocks
    }

    /// The admin API takes instants in UTC.
    private func query(_ call: PageCall) -> [String: String?] {
        var query = call.kept(filters)
        for name in instants {
            let instant = call.value(name).flatMap { ZonedTime.instant($0, in: call.speaker.zone) }
            query[name] = .some(instant?.description ?? call.value(name))
        }
        return query
    }

    /// A field for an instant.
    static func time(_ name: String, _ label: String, _ call: PageCall) -> PageForm.Field {
        let instant = call.value(name).flatMap { ZonedTime.instant($0, in: call.speaker.zone) }
        return PageForm.Field(name, label, .time, instant.map { ZonedTime.field($0, in: call.speaker.zone) })
    }

    /// A field for the order of what waits for staff.
    static func sort(_ call: PageCall) -> PageForm.Field {
        let choices = [
            PageForm.Field.Choice("", call.speaker.word("sort_latest")),
            PageForm.Field.Choice("due", call.speaker.word("sort_due")),
        ]
        return PageForm.Field("sort", call.speaker.word("sort"), .choice(choices), call.value("sort"))
    }

    /// A field for yes or any.
    static func only(_ name: String, _ label: String, _ call: PageCall) -> PageForm.Field {
        let choices = [
            PageForm.Field.Choice("", call.speaker.word("any")),
            PageForm.Field.Choice("true", call.speaker.word("yes")),
        ]
        return PageForm.Field(name, label, .choice(choices), call.value(name))
    }
}

/// Lists that belong together, beside each other.
enum SubPages {
    /// Those of the section of the service, and those of it that concern all apps: they are for staff of all apps.
    private static let ofService = [
        "dead-letters", "jobs", "due", "consumption-requests", "extensions", "endpoints", "deliveries",
    ]
    private static let ofAllApps = ["catalog", "health"]
    private static let ofCustomers = ["customers", "expiring", "notes"]

    /// All of them.
    static var lists: [String] { ofService + ofAllApps + ofCustomers }

    /// Links to those of the section of the service.
    /// - Parameter current: the one that the page is.
    static func service(_ current: String, _ call: PageCall) -> Block {
        links(isOfAllApps(call) ? ofService + ofAllApps : ofService, current, call.speaker)
    }

    /// Links to those of the section of customers. Notes belong to accounts, and so to all apps.
    static func customers(_ current: String, _ call: PageCall) -> Block {
        links(isOfAllApps(call) ? ofCustomers : Array(ofCustomers.dropLast()), current, call.speaker)
    }

    /// Whether the reader is staff of all apps.
    static func isOfAllApps(_ call: PageCall) -> Bool { call.visitor.map { $0.member.apps == nil } ?? false }

    private static func links(_ places: [String], _ current: String, _ speaker: Speaker) -> Block {
        .links(places.map { PageLink(speaker.word(of: "list", $0), Place($0), isCurrent: $0 == current) })
    }
}
