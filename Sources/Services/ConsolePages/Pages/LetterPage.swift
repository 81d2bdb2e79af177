import APIKit
import AppStorePayloads
import Base
import Staff

/// One dead letter: what it says, how the attempts at it went, and what may be done about it.
struct LetterPage: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    private let id: String

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
        id = call.part("id")
    }

    private var here: Place { Place("dead-letters", id) }

    /// The page.
    /// - Parameter problem: why something was not done.
    func content(isOpened: Bool = false, _ problem: APIProblem? = nil) async throws -> PageContent {
        let letter = try await call.ask("getDeadLetter", path: ["id": id], ["open": isOpened ? "true" : nil])
        var blocks: [Block] = problem.map { [.note(ErrorPage.sentence($0, speaker), .bad)] } ?? []
        if let done = call.value("done"), let word = speaker.words.text("letter_done.\(done)", in: speaker.language) {
            blocks.append(.note(word, .good))
        }
        if letter.string("category") == "unverified" { blocks.append(.note(speaker.word("unverified"), .warning)) }
        blocks.append(.facts(facts(letter)))
        blocks += Opening.form(
            call, at: here, isOpened, if: letter.string("resolvedWhy") != nil ? [letter] : [])
        blocks += Self.said(letter, speaker)
        blocks.append(.table(attempts(letter)))
        blocks.append(.table(others(letter)))
        if letter.string("resolution") == "open" { blocks += forms().map { Block.form($0) } }
        var content = PageContent(
            "\(speaker.word("dead_letter")) \(id)", blocks,
            commands: [CommandLine.text(["dead-letters", "show", id], [("at", speaker.instant?.description)])])
        if let problem { content.status = problem.code.status }
        return content
    }

    private func facts(_ letter: JSONObject) -> PageFacts {
        var facts: [(label: String, value: Shown)] = []
        func add(_ label: String, _ value: Shown) { facts.append((label, value)) }
        let job = letter.integer("job")
        add(speaker.word("status"), letter.standing("resolution", of: "letter_resolution"))
        add(speaker.word("letter_reason"), letter.id("reason"))
        add(speaker.word("message"), letter.words("message"))
        add(speaker.word("category"), letter.standing("category", of: "letter_category"))
        add(speaker.word("type"), letter.words("type"))
        add(speaker.word("subtype"), letter.words("subtype"))
        add(speaker.word("app"), letter.words("app"))
        add(speaker.word("notification"), letter.id("notificationUUID"))
        add(speaker.word("evidence_kind"), letter.words("kind"))
        add(speaker.word("evidence_source"), letter.words("source"))
        add(speaker.word("attempts"), letter.count("attempts"))
        add(speaker.word("received"), letter.at("receivedAt"))
        add(speaker.word("dead_since"), letter.at("deadAt"))
        add(speaker.word("decided_at"), letter.at("resolvedAt"))
        add(speaker.word("by"), letter.words("resolvedBy"))
        add(speaker.word("why"), letter.words("resolvedWhy"))
        add(speaker.word("job"), Shown.count(job).leading(to: job.map { Place("jobs", "\($0)") }))
        if let queued = letter.object("queued") {
            add(speaker.word("next_attempt"), queued.at("nextAttemptAt"))
            add(speaker.word("worker"), queued.words("worker"))
            add(speaker.word("last_reason"), queued.id("lastReason"))
        }
        return PageFacts(facts)
    }

    /// What evidence says: decoded, and as it came.
    static func said(_ evidence: JSONObject, _ speaker: Speaker) -> [Block] {
        if let why = evidence.string("unreadable") { return [.note(why, .warning)] }
        var blocks = evidence.tree("header", speaker.word("jws_header"))
        blocks += evidence.tree("payload", speaker.word("jws_payload"))
        for part in evidence.objects("parts") { blocks += part.tree("payload", part.string("name") ?? "–") }
        if let text = evidence.string("jws") { blocks.append(.code(speaker.word("jws_text"), text)) }
        return blocks
    }

    private func attempts(_ letter: JSONObject) -> PageTable {
        PageTable(
            speaker.word("attempts_made"),
            [
                .number(speaker.word("attempt")), .text(speaker.word("worker")), .text(speaker.word("started")),
                .text(speaker.word("ended")), .number(speaker.word("waited_ms")), .number(speaker.word("worked_ms")),
                .text(speaker.word("letter_reason")), .text(speaker.word("message")),
            ],
            letter.objects("history").map { attempt in
                [
                    attempt.count("attempt"), attempt.words("worker"), attempt.at("beganAt"), attempt.at("endedAt"),
                    attempt.count("waitedMilliseconds"), attempt.count("workedMilliseconds"), attempt.id("reason"),
                    attempt.words("message"),
                ]
            }, empty: speaker.word("no_attempts"))
    }

    /// All letters about the same evidence.
    private func others(_ letter: JSONObject) -> PageTable {
        PageTable(
            speaker.word("letters_same"),
            [
                .text(speaker.word("number")), .text(speaker.word("dead_since")), .text(speaker.word("letter_reason")),
                .text(speaker.word("status")), .text(speaker.word("decided_at")), .text(speaker.word("by")),
            ],
            letter.objects("letters").map { other in
                let number = other.integer("id")
                return [
                    Shown.count(number).leading(to: number.map { Place("dead-letters", "\($0)") }), other.at("deadAt"),
                    other.id("reason"), other.standing("resolution", of: "letter_resolution"), other.at("resolvedAt"),
                    other.words("resolvedBy"),
                ]
            }, empty: speaker.word("no_letters"))
    }

    // MARK: Acts

    /// What the member may do about a letter that waits.
    private func forms() -> [PageForm] {
        var forms: [PageForm] = []
        if call.may(.rehearseReplay) {
            forms.append(form("rehearse", speaker.word("letter_rehearse_about"), []))
        }
        if call.may(.replay) {
            forms.append(form("replay", speaker.word("letter_replay_about"), Reason.fields(call)))
        }
        if call.may(.discard) {
            forms.append(
                form("discard", speaker.word("letter_discard_about"), Reason.fields(call), isDangerous: true))
        }
        return forms
    }

    private func form(
        _ what: String, _ about: String, _ fields: [PageForm.Field], isDangerous: Bool = false
    ) -> PageForm {
        .act(
            speaker.word(of: "job_act", what), Place("dead-letters", id, "act"), fields,
            speaker.word(of: "job_act", what), about: about, hidden: ["what": what, "once": SentForms.number()],
            isDangerous: isDangerous)
    }

    /// Does it. What a replay would do is the report of a job, which has a page of its own.
    func act() async throws -> PageOutcome {
        do {
            let what = call.sent("what") ?? ""
            let path = ["id": id]
            switch what {
            case "rehearse":
                let job = try await call.send("rehearseDeadLetter", path: path, [:])
                return .redirect(Place("jobs", "\(job.integer("id") ?? 0)"))
            case "replay", "discard":
                _ = try await call.send(
                    what == "replay" ? "replayDeadLetter" : "discardDeadLetter", path: path,
                    ["reason": .string(try Reason.sent(call))])
                return .redirect(here.with("done", what))
            default: throw APIProblem(.invalidRequest, "rehearse, replay or discard")
            }
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await content(isOpened: false, problem))
        }
    }
}
