import APIKit
import AppStorePayloads
import Base
import Staff

/// What staff wrote about customers, and the form that adds a note.
enum NotePages {
    static var pages: [Page] {
        list.pages("notes", in: .customers) { around($0) } + [
            Page.post("/customers/{account}/notes", "note_add", in: .customers) { try await add($0) }
        ]
    }

    private static let list = PageList(
        endpoint: "listNotes", rows: "notes", place: "notes", filters: ["by", "account"], held: ["account"],
        texts: ["account", "note"],
        empty: { $0.word("no_notes") },
        columns: { speaker in
            [
                .text(speaker.word("when")), .text(speaker.word("by")), .text(speaker.word("customer")),
                .text(speaker.word("note")),
            ]
        },
        row: { note, speaker in
            let token = note.string("appAccountToken")
            let name = note.string("account") ?? token.map { String($0.prefix(8)) }
            return [
                note.at("at"), note.words("by"), Shown.words(name).leading(to: token.map { Place("customers", $0) }),
                note.string("erasedAt") == nil ? note.words("note") : .text(speaker.word("text_erased")),
            ]
        },
        fields: { [.line("by", $0.speaker.word("by"), $0.value("by"), most: 210)] },
        commands: { call in
            [
                CommandLine.text(
                    ["notes", "list"],
                    [
                        ("account", call.value("account")), ("by", call.value("by")),
                        ("at", call.speaker.instant?.description),
                    ])
            ]
        })

    /// Notes about one customer come with the form for another one.
    private static func around(_ call: PageCall, _ problem: APIProblem? = nil) -> PageList.Around {
        let speaker = call.speaker
        var above = [SubPages.customers("notes", call)]
        if let problem { above.append(.note(ErrorPage.sentence(problem, speaker), .bad)) }
        guard let place = CustomerPages.place(of: call.value("account")), let token = place.parts.last else {
            return PageList.Around(above: above)
        }
        above.append(.links([PageLink("\(speaker.word("customer")) \(token.prefix(8))", place)]))
        guard call.may(.addNote) else { return PageList.Around(above: above) }
        let form = PageForm.act(
            speaker.word("note_add"), Place("customers", token, "notes", query: ["account": "token:\(token)"]),
            [PageForm.Field("note", speaker.word("note"), .area, call.sent("note"), isRequired: true)],
            speaker.word("note_add"), about: speaker.word("note_about"), hidden: ["once": SentForms.number()])
        return PageList.Around(above: above) { _ in [.form(form)] }
    }

    private static func add(_ call: PageCall) async throws -> PageOutcome {
        let reference = "token:\(call.part("account"))"
        do {
            _ = try await call.send(
                "addNote", ["account": .string(reference), "note": .string(call.sent("note") ?? "")])
            return .redirect(Place("notes", query: ["account": reference]))
        } catch let problem as APIProblem where problem.isOfForm {
            var content = try await list.content(call, around: around(call, problem))
            content.status = problem.code.status
            return .page(content)
        }
    }
}
