import AdminAPI
import AppStorePayloads
import Base

/// What staff did: the list, and its file.
enum AuditPages {
    static var pages: [Page] { list.pages("audit", in: .audit) { _ in PageList.Around() } }

    /// Many acts belong to no environment.
    private static let list = PageList(
        endpoint: "listAudit", rows: "rows", place: "audit", section: .audit,
        filters: ["actor", "act", "app", "from", "to", "account", "subject"], held: ["account", "subject"],
        saved: .audit, instants: ["from", "to"], isEverywhere: true, texts: texts,
        empty: { $0.word("no_acts") }, columns: { columns($0) }, row: { row(of: $0, $1) },
        fields: { call in
            [
                .line("actor", call.speaker.word("by"), call.value("actor"), most: 210),
                .line("act", call.speaker.word("what"), call.value("act"), most: 60),
                .line("app", call.speaker.word("app"), call.value("app")),
                PageList.time("from", call.speaker.word("from"), call),
                PageList.time("to", call.speaker.word("to"), call),
            ]
        },
        commands: { call in
            let values = ["account", "subject", "actor", "act", "app"].map { ($0, call.value($0)) }
            let instants = ["from", "to"].map { name -> (String, String?) in
                let instant = call.value(name).flatMap { ZonedTime.instant($0, in: call.speaker.zone) }
                return (name, instant?.description ?? call.value(name))
            }
            let past = [("at", call.speaker.instant?.description)]
            return [CommandLine.text(["audit", "list"], values + instants + past)]
        })

    /// The personal texts of a row.
    private static let texts = ["account", "name", "mail", "why", "note"]

    /// Rows of the audit, wherever they are listed.
    static func table(_ rows: [JSONObject], _ caption: String, _ speaker: Speaker) -> PageTable {
        PageTable(caption, columns(speaker), rows.map { row(of: $0, speaker) }, empty: speaker.word("no_acts"))
    }

    private static func columns(_ speaker: Speaker) -> [PageTable.Column] {
        [
            .number(speaker.word("row")), .text(speaker.word("when")), .text(speaker.word("by")),
            .text(speaker.word("role")), .text(speaker.word("what")), .text(speaker.word("subject")),
            .text(speaker.word("texts")), .text(speaker.word("before")), .text(speaker.word("after")),
        ]
    }

    private static func row(of row: JSONObject, _ speaker: Speaker) -> [Shown] {
        var actor: [Shown] = [Shown.words(row.string("actor")).leading(to: row.string("actor").map { by($0) })]
        if row.bool("proven") == false { actor.append(.text(speaker.word("unproven"))) }
        var said: [Shown] = []
        for name in texts {
            if let text = row[name]?.string { said.append(.text("\(speaker.word(name)): \(text)")) }
        }
        if row.string("textErasedAt") != nil { said.append(.text(speaker.word("text_erased"))) }
        return [
            row.count("place"), row.at("at"), .all(actor), row.standing("role", of: "role"),
            row.standing("act", of: "audit_act"), subject(of: row), .all(said), json(row, "before"),
            json(row, "after"),
        ]
    }

    /// What a member did.
    static func by(_ actor: String) -> Place { Place("audit", query: ["actor": actor]) }

    /// What an act was done to, and its page where it has one.
    private static func subject(of row: JSONObject) -> Shown {
        guard let kind = row.string("subjectKind"), let subject = row.string("subject") else { return .nothing }
        let place: Place? =
            switch kind {
            case "account": Place("customers", subject)
            case "order": Place("orders", subject)
            case "refund_request": Place("refund-requests", subject)
            case "purchase": Place("orders", query: ["search": subject])
            case "endpoint": Place("endpoints", subject)
            case "delivery": Place("deliveries", subject)
            default: nil
            }
        return Shown.text("\(kind) \(subject)").leading(to: place)
    }

    /// As it was recorded, in few characters.
    private static func json(_ row: JSONObject, _ name: String) -> Shown {
        guard let element = row[name], !element.isNull else { return .nothing }
        return .code(String(decoding: element.text.prefix(400), as: UTF8.self))
    }
}
