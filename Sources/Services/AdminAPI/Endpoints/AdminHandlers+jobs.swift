import APIKit
import AccountStore
import AppStorePayloads
import Base
import EvidenceStore
import HTTPTypes
import Logging
import Postgres
import Staff

extension AdminHandlers {
    /// Jobs, the latest first.
    var jobList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/jobs", "listJobs",
            "Acts on many dead letters at once, the latest first. Staff of some apps see those that staff of no other app asked for.",
            for: .staff, successes: [jobPages(nil, nil, nil).success("JobPage", "A page of jobs.")]
        ) { request in
            let member = try await member(request, for: .read)
            let state = request.query["state"].flatMap { Job.State(rawValue: $0) }
            let instant = try Self.instant("at", request)
            return try await jobPages(Self.apps(of: member.scope), state, instant).answer(request, self)
        }
        endpoint.query =
            AdminList<ShownJob>.query + Opening.query + [
                .init("state", AdminShapes.jobStates, "Only in this state."),
                Self.at(
                    "Those that had been asked for by this instant, such as 2026-01-31T12:00:00Z, in the state of then; now by default. done and skipped are null of one that was under way: getJob counts them. What was deleted since is gone."
                ),
            ]
        endpoint.refusesFitting =
            "after is next of a page before, at is an instant, a file of opened texts has a reason"
        return endpoint
    }

    private func jobPages(
        _ apps: [String]?, _ state: Job.State?, _ instant: Timestamp?
    ) -> AdminList<ShownJob> {
        AdminList(
            name: "jobs", shape: AdminShapes.job, subject: ("jobs", "list"), cursorParts: JobStore.cursorParts,
            takes: { Int64($0.parts[0]) != nil }, openedTexts: { $0.openedTexts }
        ) { [jobs] opening, cursor, limit in
            try await jobs.list(ofApps: apps, state: state, at: instant, after: cursor, limit: limit).map {
                ShownJob(job: $0, opening: opening)
            }
        }
    }

    /// A job.
    var jobShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/jobs/{id}", "getJob", "A job, and how far it is.", for: .staff,
            successes: [.init("The job.", AdminShapes.job.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            let job = try await job(request, member, at: try Self.instant("at", request))
            let opening = try await Opening(request, isExport: false, of: ("job", "\(job.id)"), self)
            let shown = ShownJob(job: job, opening: opening)
            try await opening.note(shown.openedTexts)
            return APIAnswer(.ok, AdminShapes.job.value(of: shown))
        }
        endpoint.pathSchemas = Self.jobPath
        endpoint.query =
            Opening.query + [
                Self.at(
                    "How it stood at this instant, such as 2026-01-31T12:00:00Z, if it had been asked for; now by default."
                )
            ]
        endpoint.problems = [.noJob]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    /// What became of its letters.
    var jobResults: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/jobs/{id}/results", "listJobResults", "The letters of a job, and what became of them.",
            for: .staff, successes: [jobItems(0, nil).success("JobResultPage", "A page of letters.")]
        ) { request in
            let member = try await member(request, for: .read)
            let instant = try Self.instant("at", request)
            return try await jobItems(try await job(request, member, at: instant).id, instant).answer(request, self)
        }
        endpoint.pathSchemas = Self.jobPath
        endpoint.query =
            AdminList<JobItem>.query + [
                Self.at(
                    "What had become of them by this instant, such as 2026-01-31T12:00:00Z; now by default. Letters that were deleted since have no reason."
                )
            ]
        endpoint.problems = [.noJob]
        endpoint.refusesFitting = "after is next of a page before, at is an instant"
        return endpoint
    }

    private func jobItems(_ id: Int64, _ instant: Timestamp?) -> AdminList<JobItem> {
        AdminList(
            name: "results", shape: AdminShapes.jobItem, subject: ("job", "\(id)"), cursorParts: 1,
            takes: { Int64($0.parts[0]) != nil }, openedTexts: { _ in 0 }
        ) { [jobs] _, cursor, limit in
            try await jobs.items(of: id, at: instant, after: cursor, limit: limit)
        }
    }

    private static let jobPath = ["id": ValueSchema.string(.init(1, 20))]

    /// The job that the path names, if it is the member's to see.
    private func job(
        _ request: AdminRequest, _ member: StaffMember, at instant: Timestamp? = nil
    ) async throws -> Job {
        guard let id = Self.number(request.path["id"]), let job = try await found(id, at: instant),
            member.scope.sees(jobOf: job.apps)
        else { throw JobRefusal.unknown.problem }
        return job
    }

    private func found(_ id: Int64, at instant: Timestamp?) async throws -> Job? {
        guard let instant else { return try await jobs.job(id) }
        return try await jobs.job(id, at: instant)
    }

    // MARK: Acts

    /// A new job.
    var jobMake: AdminEndpoint {
        let filter = StrictObject(
            what: "a filter",
            members: [
                .optional("type", .string(.init(1, 100))), .optional("reason", .string(.init(1, 60))),
                .optional("app", .string(.init(1, 255))), .optional("since", .string(.init(1, 40))),
                .optional("text", .string(.init(1, 200))),
                .optional("ids", .array(.integer(1...Int64.max), least: 1, most: 1000), "Only these letters."),
            ])
        var endpoint = AdminEndpoint(
            .post, "/admin/jobs", "makeJob",
            "Asks for an act on all open dead letters that match a filter. The letters are fixed now; workers carry it out.",
            for: .staff, successes: [.init(.created, "It is asked for, and on record.", AdminShapes.madeJob.schema)]
        ) { try await makeJob($0) }
        endpoint.body = Self.body(
            "MakeJobRequest",
            [
                .required(
                    "act", AdminShapes.jobActs, "rehearse changes nothing: its report says what a replay would do."),
                .required("filter", .strict(filter), "As GET /admin/dead-letters takes it; {} for all."),
                .required("upTo", .integer(0...Int64.max), "upTo of the list that was looked at."),
                .optional(
                    "downTo", .integer(0...Int64.max),
                    "downTo of that list, where it has one: the job has letters of this evidence and of newer one alone, and says so. Without it, \(JobStore.mostLookedThrough) open letters are looked through at most; where there are more, no job is made."
                ),
                .required(
                    "confirmed", .integer(1...JobStore.most),
                    "How many letters are meant: matching of that list. Where another number match, the answer is 409 with that number."
                ),
                .optional("perSecond", .integer(1...1000), "How many a second at most."),
            ])
        endpoint.problems = [.letterCountChanged, .tooManyLetters, .unavailable]
        endpoint.refusesFitting = Self.argued + ", since is an instant, ids are 1 to 1000 numbers"
        endpoint.isLogged = true
        return endpoint
    }

    private func makeJob(_ request: AdminRequest) async throws -> APIAnswer {
        let body = try Self.body(request)
        guard let act = Job.Act(rawValue: body.string("act") ?? ""), let asked = body.object("filter") else {
            throw APIProblem(.invalidRequest, "act takes rehearse, replay or discard")
        }
        let member = try await member(request, for: act.task)
        let reason = try Self.reason(body)
        var filter = DeadLetterFilter(
            reason: asked.string("reason"), type: asked.string("type"), bundleID: asked.string("app"),
            apps: Self.apps(of: member.scope), text: asked.string("text"), downTo: body.integer("downTo"))
        if let since = asked.string("since") { filter.since = PostgresTimestamp(try Self.instant("since", since)) }
        if let elements = asked["ids"]?.elements {
            let ids = elements.compactMap(\.integer)
            guard ids.count == elements.count, !ids.isEmpty else {
                throw APIProblem(.invalidRequest, "ids takes 1 to 1000 numbers of letters")
            }
            filter.ids = ids
        }
        do {
            let made = try await jobs.make(
                JobStore.Draft(
                    act, filter, upTo: body.integer("upTo") ?? 0, confirmed: body.integer("confirmed") ?? 0,
                    perSecond: body.integer("perSecond").map { Int($0) }, by: member.actor, why: reason))
            let shown = ShownJob(job: made.job, opening: Opening(shortening: member, audit))
            return APIAnswer(
                .created, AdminShapes.madeJob.value(of: MadeJob(shown: shown, later: made.later)),
                log: ["job": "\(made.job.id)", "act": "\(act.rawValue)", "letters": "\(made.job.total)"])
        } catch let refusal as JobRefusal { throw refusal.problem }
    }

    /// The end of one.
    var jobStop: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/jobs/{id}/stop", "stopJob",
            "Stops a job: what is settled stays so, the rest is left alone.", for: .staff,
            successes: [.init("It is stopped, and on record.", AdminShapes.job.schema)]
        ) { request in
            let body = try Self.body(request)
            let seen = try await job(request, try member(request))
            let member = try await member(request, for: seen.act.task)
            let reason = try Self.reason(body)
            do {
                let stopped = try await jobs.stop(seen.id, by: member.actor, why: reason)
                let shown = ShownJob(job: stopped, opening: Opening(shortening: member, audit))
                return APIAnswer(.ok, AdminShapes.job.value(of: shown), log: ["job": "\(stopped.id)"])
            } catch let refusal as JobRefusal { throw refusal.problem }
        }
        endpoint.pathSchemas = Self.jobPath
        endpoint.body = Self.body("StopJobRequest", [])
        endpoint.problems = [.noJob, .jobOver]
        endpoint.refusesFitting = Self.argued
        endpoint.isLogged = true
        return endpoint
    }
}

extension Job.Act {
    /// The task that the caller has to be allowed to do.
    fileprivate var task: StaffTask {
        switch self {
        case .rehearse: .rehearseReplay
        case .replay: .replay
        case .discard: .discard
        }
    }
}
