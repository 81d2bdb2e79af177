import APIKit
import AdminAPI
import AppStorePayloads
import Base
import Staff

/// Jobs: acts on many dead letters at once, and how far each is.
enum JobPages {
    static var pages: [Page] {
        let others: [Page] = [
            .get("/jobs/{id}", "job", in: .service) { .page(try await JobPage($0).content()) },
            .post("/jobs/{id}", "job_opened", in: .service) { .page(try await JobPage($0).content(isOpened: true)) },
            .get("/jobs/{id}/results.csv", "job_results", in: .service) {
                try await $0.file("listJobResults", path: ["id": $0.part("id")], [:])
            },
            .post("/jobs/{id}/stop", "job_stop", in: .service) { try await JobPage($0).stop() },
        ]
        return list.pages("jobs", in: .service) { PageList.Around(above: [SubPages.service("jobs", $0)]) } + others
    }

    private static let list = PageList(
        endpoint: "listJobs", rows: "jobs", place: "jobs", filters: ["state"], saved: .jobs,
        texts: ["why", "stoppedWhy"],
        empty: { $0.word("no_jobs") },
        columns: { speaker in
            [
                .text(speaker.word("number")), .text(speaker.word("what")), .text(speaker.word("status")),
                .number(speaker.word("letters")), .number(speaker.word("done")), .number(speaker.word("skipped")),
                .text(speaker.word("by")), .text(speaker.word("reason")), .text(speaker.word("created")),
                .text(speaker.word("ended")),
            ]
        },
        row: { job, _ in
            let id = job.integer("id")
            return [
                Shown.count(id).leading(to: id.map { Place("jobs", "\($0)") }), job.standing("act", of: "job_act"),
                job.standing("state", of: "job_state"), job.count("total"), job.count("done"), job.count("skipped"),
                job.words("actor"), job.words("why"), job.at("createdAt"), job.at("endedAt"),
            ]
        },
        fields: { call in
            [
                .states(
                    "state", call.speaker.word("status"), "job_state",
                    ["waiting", "running", "done", "stopped", "failed"], call.value("state"), call.speaker)
            ]
        },
        commands: { call in
            [
                CommandLine.text(
                    ["jobs", "list"], [("state", call.value("state")), ("at", call.speaker.instant?.description)])
            ]
        })
}

/// One job.
struct JobPage: Sendable {
    private let call: PageCall
    private let speaker: Speaker
    private let id: String

    init(_ call: PageCall) {
        self.call = call
        speaker = call.speaker
        id = call.part("id")
    }

    private var here: Place { Place("jobs", id) }

    /// The page.
    /// - Parameter problem: why it was not stopped.
    func content(isOpened: Bool = false, _ problem: APIProblem? = nil) async throws -> PageContent {
        let job = try await call.ask("getJob", path: ["id": id], ["open": isOpened ? "true" : nil])
        let page = try await call.ask("listJobResults", path: ["id": id], ["after": call.value("after")])
        let isOpen = job.string("endedAt") == nil
        var blocks: [Block] = problem.map { [.note(ErrorPage.sentence($0, speaker), .bad)] } ?? []
        if job.bool("isStopping") == true { blocks.append(.note(speaker.word("job_stopping"), .warning)) }
        if job.object("filter")?.integer("downTo") != nil { blocks.append(.note(speaker.word("job_part"), .calm)) }
        // What a stream goes on with is for scripts; a link does it without. Of the past nothing goes on.
        let isFollowed = isOpen && speaker.instant == nil
        blocks.append(.facts(isFollowed ? following(job, facts(job)) : facts(job)))
        if isFollowed { blocks.append(.links([PageLink(speaker.word("look_again"), here)])) }
        let hasText = job.string("why") != nil || job.string("stoppedWhy") != nil
        blocks += Opening.form(call, at: here, isOpened, if: hasText ? [job] : [])
        if let report = job.object("report") { blocks += shown(report) }
        blocks.append(.table(results(page)))
        if isOpen, mayStop(job) {
            blocks.append(
                .form(
                    .act(
                        speaker.word("job_stop"), Place("jobs", id, "stop"), Reason.fields(call),
                        speaker.word("job_stop"), about: speaker.word("job_stop_about"),
                        hidden: ["once": SentForms.number()], isDangerous: true)))
        }
        var content = PageContent(
            "\(speaker.word("job")) \(id)", blocks,
            commands: [
                CommandLine.text(["jobs", "show", id], [("at", speaker.instant?.description)])
            ])
        if let problem { content.status = problem.code.status }
        return content
    }

    private func mayStop(_ job: JSONObject) -> Bool {
        switch job.string("act") {
        case "rehearse": call.may(.rehearseReplay)
        case "replay": call.may(.replay)
        default: call.may(.discard)
        }
    }

    /// The same, and its numbers go on while it is in this state; then the page is loaded again.
    private func following(_ job: JSONObject, _ facts: PageFacts) -> PageFacts {
        var facts = facts
        facts.stream = speaker.prefix + Place("admin", "overview", "stream").path
        facts.holdsWhile = ("jobs.\(id).state", job.string("state") ?? "", here)
        return facts
    }

    private func facts(_ job: JSONObject) -> PageFacts {
        var facts: [(label: String, value: Shown)] = []
        func add(_ label: String, _ value: Shown) { facts.append((label, value)) }
        add(speaker.word("what"), job.standing("act", of: "job_act"))
        add(speaker.word("status"), job.standing("state", of: "job_state"))
        add(speaker.word("letters"), job.count("total"))
        add(speaker.word("done"), .live(job.count("done"), "jobs.\(id).done"))
        add(speaker.word("skipped"), .live(job.count("skipped"), "jobs.\(id).skipped"))
        add(speaker.word("per_second"), job.count("perSecond"))
        add(speaker.word("up_to"), job.count("upTo"))
        add(speaker.word("filter_used"), .id(job.json("filter")))
        add(speaker.word("error"), job.words("error"))
        add(speaker.word("by"), job.words("actor"))
        add(speaker.word("reason"), job.words("why"))
        add(speaker.word("created"), job.at("createdAt"))
        add(speaker.word("started"), job.at("begunAt"))
        add(speaker.word("ended"), job.at("endedAt"))
        add(speaker.word("stopped_at"), job.at("stoppedAt"))
        add(speaker.word("stopped_by"), job.words("stoppedBy"))
        add(speaker.word("stopped_why"), job.words("stoppedWhy"))
        return PageFacts(facts)
    }

    /// What a replay would do.
    private func shown(_ report: JSONObject) -> [Block] {
        let numbers = PageFacts(
            speaker.word("report"), style: .cards,
            [
                (speaker.word("letters"), report.count("letters")),
                (speaker.word("would_apply"), report.count("applied")),
                (speaker.word("would_know"), report.count("duplicate")),
                (speaker.word("would_park"), report.count("parked")), (speaker.word("would_die"), report.count("dead")),
                (speaker.word("would_change"), report.count("changed")),
            ])
        let dead = PageTable(
            speaker.word("would_die"),
            [.text(speaker.word("number")), .text(speaker.word("letter_reason")), .text(speaker.word("message"))],
            report.objects("stillDead").map { letter in
                let number = letter.integer("letter")
                return [
                    Shown.count(number).leading(to: number.map { Place("dead-letters", "\($0)") }), letter.id("reason"),
                    letter.words("message"),
                ]
            }, empty: speaker.word("no_letters"))
        let changes = PageTable(
            speaker.word("would_change"),
            [
                .text(speaker.word("original_transaction")), .text(speaker.word("app")),
                .text(speaker.word("environment")), .text(speaker.word("before")), .text(speaker.word("after")),
            ],
            report.objects("changes").map { change in
                let purchase = change.string("originalTransactionId")
                return [
                    Shown.id(purchase).leading(to: purchase.map { Place("orders", query: ["search": $0]) }),
                    change.words("bundleId"), change.standing("environment", of: "environment"),
                    change.standing("from", of: "purchase_status"), change.standing("to", of: "purchase_status"),
                ]
            }, empty: speaker.word("nothing_changes"))
        return [.facts(numbers), .table(dead), .table(changes)]
    }

    private func results(_ page: JSONObject) -> PageTable {
        var table = PageTable(
            speaker.word("job_letters"),
            [
                .text(speaker.word("number")), .text(speaker.word("outcome")), .text(speaker.word("ended")),
                .text(speaker.word("letter_reason")), .text(speaker.word("type")), .text(speaker.word("status")),
            ],
            page.objects("results").map { result in
                let letter = result.integer("letter")
                return [
                    Shown.count(letter).leading(to: letter.map { Place("dead-letters", "\($0)") }),
                    result.standing("outcome", of: "job_outcome"), result.at("endedAt"), result.id("reason"),
                    result.words("type"), result.standing("resolution", of: "letter_resolution"),
                ]
            }, empty: speaker.word("no_letters"))
        table.next = page.string("next").map { here.with("after", $0) }
        table.file = Place("jobs", id, "results.csv")
        return table
    }

    /// Stops it, and shows it as it is then.
    func stop() async throws -> PageOutcome {
        do {
            _ = try await call.send("stopJob", path: ["id": id], ["reason": .string(try Reason.sent(call))])
            return .redirect(here)
        } catch let problem as APIProblem where problem.isOfForm {
            return .page(try await content(isOpened: false, problem))
        }
    }
}
