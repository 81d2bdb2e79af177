import APIKit
import AdminAPI
import AppStorePayloads
import Base
import Staff

/// Dead letters: the list with what may be done to all that match, and each letter.
enum LetterPages {
    static var pages: [Page] {
        let others: [Page] = [
            .post("/letter-jobs", "letter_job", in: .service) { try await makeJob($0) },
            .get("/dead-letters/{id}", "letter", in: .service) { .page(try await LetterPage($0).content()) },
            .post("/dead-letters/{id}", "letter_opened", in: .service) {
                .page(try await LetterPage($0).content(isOpened: true))
            },
            .post("/dead-letters/{id}/act", "letter_act", in: .service) { try await LetterPage($0).act() },
        ]
        return list.pages("letters", in: .service) { try around($0) } + others
    }

    /// What a job takes of the list's form.
    private static let filters = ["type", "reason", "app", "since", "text"]

    private static let list = PageList(
        endpoint: "listDeadLetters", rows: "letters", place: "dead-letters", filters: filters + ["resolution"],
        free: "text", saved: .deadLetters, instants: ["since"], empty: { $0.word("no_letters") },
        columns: { speaker in
            [
                .text(speaker.word("number")), .text(speaker.word("letter_reason")), .text(speaker.word("type")),
                .text(speaker.word("evidence_kind")), .text(speaker.word("evidence_source")),
                .text(speaker.word("app")), .number(speaker.word("attempts")), .text(speaker.word("received")),
                .text(speaker.word("dead_since")),
                .text(speaker.word("status")), .text(speaker.word("by")),
            ]
        }, row: { letter, _ in row(of: letter) }, fields: { fields($0) },
        commands: { call in
            [
                CommandLine.text(
                    ["dead-letters", "list"],
                    [
                        ("type", call.value("type")), ("reason", call.value("reason")), ("app", call.value("app")),
                        ("text", call.value("text")), ("since", since(call)),
                        ("at", call.speaker.instant?.description),
                    ])
            ]
        })

    /// Since when, as commands and the admin API take it.
    private static func since(_ call: PageCall) -> String? {
        call.value("since").flatMap { ZonedTime.instant($0, in: call.speaker.zone) }?.description
    }

    private static func row(of letter: JSONObject) -> [Shown] {
        let id = letter.integer("id")
        let type = [letter.string("type"), letter.string("subtype")].compactMap(\.self).joined(separator: " ")
        return [
            Shown.count(id).leading(to: id.map { Place("dead-letters", "\($0)") }),
            .all([letter.id("reason"), letter.standing("category", of: "letter_category")]),
            .words(type.isEmpty ? nil : type), letter.words("kind"), letter.words("source"), letter.words("app"),
            letter.count("attempts"), letter.at("receivedAt"), letter.at("deadAt"),
            letter.standing("resolution", of: "letter_resolution"), letter.words("resolvedBy"),
        ]
    }

    private static func fields(_ call: PageCall) -> [PageForm.Field] {
        let speaker = call.speaker
        return [
            .line("type", speaker.word("type"), call.value("type"), most: 100),
            .line("reason", speaker.word("letter_reason"), call.value("reason"), most: 60),
            .line("app", speaker.word("app"), call.value("app")),
            PageList.time("since", speaker.word("dead_since"), call),
            .line("text", speaker.word("text_within"), call.value("text"), most: 200),
            .states(
                "resolution", speaker.word("status"), "letter_resolution", ["open", "replayed", "discarded"],
                call.value("resolution") ?? "open", speaker, isRequired: true),
        ]
    }

    // MARK: All that match

    private static func around(_ call: PageCall, _ problem: APIProblem? = nil) throws -> PageList.Around {
        var above = [SubPages.service("dead-letters", call)]
        if let problem { above.append(.note(ErrorPage.sentence(problem, call.speaker), .bad)) }
        return PageList.Around(above: above) { answer in
            guard let matching = answer.integer("matching"), matching > 0, let upTo = answer.integer("upTo") else {
                return []
            }
            guard let asked = form(matching, upTo, part(of: answer), call) else { return [] }
            return [.form(asked)]
        }
    }

    /// Where not all open letters were looked through for the number of those that match: how many were, and down to which evidence.
    private static func part(of answer: JSONObject) -> (among: Int64, downTo: Int64)? {
        guard let among = answer.integer("among"), let downTo = answer.integer("downTo") else { return nil }
        return (among, downTo)
    }

    /// The form that asks for a job; nil where the member may ask for none. How many letters are meant is typed: so nothing is done to others than
    /// those that were looked at. A part of the letters is called one.
    private static func form(
        _ matching: Int64, _ upTo: Int64, _ part: (among: Int64, downTo: Int64)?, _ call: PageCall
    ) -> PageForm? {
        let speaker = call.speaker
        let acts = [
            call.may(.rehearseReplay) ? "rehearse" : nil, call.may(.replay) ? "replay" : nil,
            call.may(.discard) ? "discard" : nil,
        ].compactMap(\.self)
        guard !acts.isEmpty else { return nil }
        var hidden = ["upTo": "\(upTo)", "once": SentForms.number()]
        let count = speaker.number(matching)
        var (title, about) = (speaker.word("letters_all", ["count": count]), speaker.word("letters_all_about"))
        if let part {
            hidden["downTo"] = "\(part.downTo)"
            title = speaker.word("letters_part", ["count": count, "among": speaker.number(part.among)])
            about = speaker.word("letters_part_about")
        }
        for name in filters {
            let instant = name == "since" ? call.value(name).flatMap { ZonedTime.instant($0, in: speaker.zone) } : nil
            hidden["filter-\(name)"] = instant?.description ?? call.value(name) ?? ""
        }
        return .act(
            title, Place("letter-jobs"),
            [
                .states("act", speaker.word("what"), "job_act", acts, call.sent("act"), speaker, isRequired: true),
                PageForm.Field(
                    "confirmed", speaker.word("letters_confirm"), .number(1...10_000), call.sent("confirmed"),
                    isRequired: true, hint: speaker.word("letters_confirm_about")),
                PageForm.Field("perSecond", speaker.word("per_second"), .number(1...1000), call.sent("perSecond")),
            ] + Reason.fields(call), speaker.word("go_on"), about: about, hidden: hidden, isDangerous: true)
    }

    private static func makeJob(_ call: PageCall) async throws -> PageOutcome {
        do {
            let filter = filters.compactMap { name in
                call.sent("filter-\(name)").map { JSONValue.Member(name, .string($0)) }
            }
            var perSecond: JSONValue?
            var downTo: JSONValue?
            if call.sent("perSecond") != nil { perSecond = .integer(try Number.sent("perSecond", call)) }
            if call.sent("downTo") != nil { downTo = .integer(try Number.sent("downTo", call)) }
            let made = try await call.send(
                "makeJob",
                [
                    "act": .string(call.sent("act") ?? ""), "filter": .object(filter),
                    "upTo": .integer(try Number.sent("upTo", call)), "downTo": downTo,
                    "confirmed": .integer(try Number.sent("confirmed", call)), "perSecond": perSecond,
                    "reason": .string(try Reason.sent(call)),
                ])
            return .redirect(Place("jobs", "\(made.integer("id") ?? 0)"))
        } catch let problem as APIProblem where problem.isOfForm {
            var content = try await list.content(call, around: try around(call, problem))
            content.status = problem.code.status
            return .page(content)
        }
    }
}
