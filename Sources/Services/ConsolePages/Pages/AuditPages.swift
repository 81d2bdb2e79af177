import AppStorePayloads
import Base

/// What staff did: the list, and its file.
enum AuditPages {
    static var pages: [Page] {
        [
            .get("/audit", "audit", in: .audit) { .page(try await list($0)) },
            .post("/audit", "audit_opened", in: .audit) { .page(try await list($0, isOpened: true)) },
            .get("/audit.csv", "audit_file", in: .audit) { call in
                try await call.file("listAudit", query(call), isEverywhere: true)
            },
        ]
    }

    private static let filters = ["account", "subject", "actor", "act", "app", "from", "to"]

    /// The admin API takes instants in UTC; the form has them on the reader's clock.
    private static func query(_ call: PageCall) -> [String: String?] {
        var query = call.kept(filters)
        for name in ["from", "to"] {
            let instant = call.value(name).flatMap { ZonedTime.instant($0, in: call.speaker.zone) }
            query[name] = .some(instant?.description ?? call.value(name))
        }
        return query
    }

    private static func list(_ call: PageCall, isOpened: Bool = false) async throws -> PageContent {
        let speaker = call.speaker
        let kept = call.kept(filters)
        var query = query(call)
        query["after"] = .some(call.value("after"))
        if isOpened { query["open"] = "true" }
        // Many acts belong to no environment.
        let page = try await call.ask("listAudit", query, isEverywhere: true)
        let rows = page.objects("rows")
        let title = speaker.word(of: "section", Section.audit.rawValue)
        var listed = table(rows, title, speaker)
        listed.next = page.string("next").map { Place("audit", query: kept).with("after", $0) }
        listed.file = Place("audit.csv", query: kept)
        let here = Place("audit", query: call.kept(filters + ["after"]))
        var blocks: [Block] = [.form(filter(call))]
        if call.value("account") != nil || call.value("subject") != nil {
            blocks.append(.links([PageLink(speaker.word("all"), Place("audit"))]))
        }
        blocks.append(.table(listed))
        let names = ["account", "name", "mail", "why", "note"]
        let withText = rows.filter { row in names.contains { row[$0]?.string != nil } }
        blocks += Opening.form(call, at: here, isOpened, if: withText)
        return PageContent(
            title, blocks,
            commands: [CommandLine.text(["audit", "list"], filters.map { ($0, query[$0] ?? nil) })])
    }

    /// Rows of the audit, wherever they are listed.
    static func table(_ rows: [JSONObject], _ caption: String, _ speaker: Speaker) -> PageTable {
        PageTable(
            caption,
            [
                .number(speaker.word("row")), .text(speaker.word("when")), .text(speaker.word("by")),
                .text(speaker.word("role")), .text(speaker.word("what")), .text(speaker.word("subject")),
                .text(speaker.word("texts")), .text(speaker.word("before")), .text(speaker.word("after")),
            ], rows.map { row(of: $0, speaker) }, empty: speaker.word("no_acts"))
    }

    private static func row(of row: JSONObject, _ speaker: Speaker) -> [Shown] {
        var actor: [Shown] = [Shown.words(row.string("actor")).leading(to: row.string("actor").map { by($0) })]
        if row.bool("proven") == false { actor.append(.text(speaker.word("unproven"))) }
        var texts: [Shown] = []
        for name in ["account", "name", "mail", "why", "note"] {
            if let text = row[name]?.string { texts.append(.text("\(speaker.word(name)): \(text)")) }
        }
        if row.string("textErasedAt") != nil { texts.append(.text(speaker.word("text_erased"))) }
        return [
            row.count("place"), row.at("at"), .all(actor), row.standing("role", of: "role"),
            row.standing("act", of: "audit_act"), subject(of: row), .all(texts), json(row, "before"),
            json(row, "after"),
        ]
    }

    private static func by(_ actor: String) -> Place { Place("audit", query: ["actor": actor]) }

    /// What an act was done to, and its page where it has one.
    private static func subject(of row: JSONObject) -> Shown {
        guard let kind = row.string("subjectKind"), let subject = row.string("subject") else { return .nothing }
        let place: Place? =
            switch kind {
            case "account": Place("customers", subject)
            case "order": Place("orders", subject)
            case "refund_request": Place("refund-requests", subject)
            case "purchase": Place("orders", query: ["search": subject])
            default: nil
            }
        return Shown.text("\(kind) \(subject)").leading(to: place)
    }

    /// As it was recorded, in few characters.
    private static func json(_ row: JSONObject, _ name: String) -> Shown {
        guard let element = row[name], !element.isNull else { return .nothing }
        return .code(String(decoding: element.text.prefix(400), as: UTF8.self))
    }

    private static func filter(_ call: PageCall) -> PageForm {
        let speaker = call.speaker
        func time(_ name: String) -> PageForm.Field {
            let instant = call.value(name).flatMap { ZonedTime.instant($0, in: speaker.zone) }
            let text = instant.map { ZonedTime.field($0, in: speaker.zone) }
            return PageForm.Field(name, speaker.word(name), .time, text)
        }
        return .filter(
            Place("audit", query: call.kept(["account", "subject"])),
            [
                .line("actor", speaker.word("by"), call.value("actor"), most: 210),
                .line("act", speaker.word("what"), call.value("act"), most: 60),
                .line("app", speaker.word("app"), call.value("app")), time("from"), time("to"),
            ], speaker.word("filter"))
    }
}
