import APIKit
import AccountStore
import Base
import EvidenceStore
import HTTPTypes
import Logging
import Postgres
import Staff

extension AdminHandlers {
    /// Dead letters, the newest first.
    var letterList: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/dead-letters", "listDeadLetters",
            "What could not be verified or applied, the newest first. A letter belongs to the app that it names itself. Why one was settled is shortened here. A page looks through \(Outbox.mostLettersLookedThrough) letters at most, and so does the count of those that match.",
            for: .staff,
            successes: [letterPages(DeadLetterFilter(), .open, nil).success("DeadLetterPage", "A page of letters.")]
        ) { request in
            let member = try await member(request, for: .read)
            let resolution = request.query["resolution"].flatMap { DeadLetterResolution(rawValue: $0) } ?? .open
            let (filter, instant) = (
                try Self.letterFilter(request, member.scope), try Self.instant("at", request)
            )
            return try await letterPages(filter, resolution, instant).answer(request, self)
        }
        endpoint.query =
            AdminList<ShownLetter>.query + [
                .init("type", .string(.init(1, 100)), "Only of this notification type, as the letters say."),
                .init("reason", .string(.init(1, 60)), "Only with this reason code."),
                .init("app", .string(.init(1, 255)), "Only of this app (bundle id), as the letters say."),
                .init("since", .string(.init(1, 40)), "Only dead since this instant, such as 2026-01-31T12:00:00Z."),
                .init(
                    "text", .string(.init(1, 200)),
                    "Only with this text in type, subtype, reason, message, app or UUID, in any case."),
                .init("resolution", AdminShapes.letterResolutions, "open by default: those that wait."),
                Self.at(
                    "Those that had died by this instant, such as 2026-01-31T12:00:00Z, in the order of their numbers, each as it stood then; now by default. What was deleted since is gone. Of them, matching, among, upTo and downTo are null."
                ),
            ]
        endpoint.refusesFitting = "after is next of a page before, since and at are instants"
        return endpoint
    }

    private static func letterFilter(
        _ request: AdminRequest, _ scope: StaffScope
    ) throws(APIProblem) -> DeadLetterFilter {
        DeadLetterFilter(
            reason: request.query["reason"], type: request.query["type"],
            since: try instant("since", request).map { PostgresTimestamp($0) }, bundleID: request.query["app"],
            apps: apps(of: scope), text: request.query["text"])
    }

    /// The apps of some staff; nil for all.
    static func apps(of scope: StaffScope) -> [String]? {
        if case .some(let apps) = scope { apps.sorted() } else { nil }
    }

    private func letterPages(
        _ filter: DeadLetterFilter, _ resolution: DeadLetterResolution, _ instant: Timestamp?
    ) -> AdminList<ShownLetter> {
        AdminList(
            name: "letters", shape: AdminShapes.deadLetter, subject: ("dead_letters", "list"),
            cursorParts: Outbox.letterCursorParts, takes: { Int64($0.parts[0]) != nil },
            more: (
                [
                    .required(
                        "matching", .nullable(.integer()),
                        "How many of the open letters that were looked through match: what a job of them confirms. Null with at, and unless resolution is open."
                    ),
                    .required(
                        "among", .nullable(.integer()),
                        "Where not all open letters were looked through: how many were, the newest ones. Others may match."
                    ),
                    .required("upTo", .nullable(.integer()), "The newest letter there is: what such a job goes up to."),
                    .required(
                        "downTo", .nullable(.integer()),
                        "Where not all open letters were looked through: the evidence of the oldest one that was. A job of the letters that match names it, and has none of older evidence."
                    ),
                ],
                { [jobs] in
                    guard resolution == .open, instant == nil else {
                        return ["matching", "among", "upTo", "downTo"].map { JSONValue.Member($0, .null) }
                    }
                    let matching = try await jobs.matching(filter)
                    // Of letters of other apps it says no more than that there are many.
                    let among: JSONValue = matching.downTo == nil ? .null : .integer(matching.among)
                    return [
                        .init("matching", .integer(matching.count)), .init("among", among),
                        .init("upTo", .integer(matching.upTo)),
                        .init("downTo", matching.downTo.map { JSONValue.integer($0) } ?? .null),
                    ]
                }
            ), openedTexts: { _ in 0 }
        ) { [outbox] _, cursor, limit in
            // No list opens texts: its `reason` is a letter's code, and not the member's reason for reading.
            guard let instant else {
                return try await outbox.letters(filter, resolution, after: cursor, limit: limit).map {
                    ShownLetter(shortening: $0)
                }
            }
            return try await outbox.letters(filter, resolution, at: instant, after: cursor, limit: limit).map {
                ShownLetter(shortening: $0)
            }
        }
    }

    /// A dead letter, what it says and how the attempts at it went.
    var letterShow: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .get, "/admin/dead-letters/{id}", "getDeadLetter",
            "A dead letter with what it says, decoded, and how the attempts at it went.", for: .staff,
            successes: [.init("The letter.", AdminShapes.deadLetterDetail.schema)]
        ) { request in
            let member = try await member(request, for: .read)
            let instant = try Self.instant("at", request)
            let (letter, body) = try await letter(request, member, at: instant)
            let opening = try await Opening(request, isExport: false, of: ("dead_letter", "\(letter.id)"), self)
            let shown = ShownLetter(letter, opening)
            let end = instant.map { PostgresTimestamp.end(of: $0) }
            let attempts = try await outbox.attempts(at: letter.outboxID).filter { attempt in
                end.map { end in attempt.endedAt.map { $0 <= end } ?? true } ?? true
            }
            let letters = try await outbox.letters(about: letter.outboxID)
            let detail = ShownLetterDetail(
                shown: shown, content: DecodedJWS(body), attempts: ShownAttempt.all(attempts, of: letter),
                queued: instant == nil ? try await outbox.queued(letter.outboxID) : nil,
                letters: end.map { end in letters.filter { $0.deadAt <= end }.map { $0.then(end) } } ?? letters)
            try await opening.note(shown.openedTexts)
            return APIAnswer(.ok, AdminShapes.deadLetterDetail.value(of: detail))
        }
        endpoint.pathSchemas = Self.letterPath
        endpoint.query =
            Opening.query + [
                Self.at(
                    "How it stood at this instant, such as 2026-01-31T12:00:00Z, if it was dead by then, with the attempts that had ended; now by default. queued is null of a past."
                )
            ]
        endpoint.problems = [.noLetter]
        endpoint.refusesFitting = "at is an instant"
        return endpoint
    }

    private static let letterPath = ["id": ValueSchema.string(.init(1, 20))]

    /// The letter that the path names, if it is the member's to see. One that names no app is for staff of all apps.
    private func letter(
        _ request: AdminRequest, _ member: StaffMember, at instant: Timestamp? = nil
    ) async throws -> (letter: DeadLetter, body: OpenedBody?) {
        guard let id = Self.number(request.path["id"]),
            let found = try await outbox.deadLetter(id, at: instant, withReceipts: false),
            member.scope.sees(app: found.letter.bundleID)
        else { throw Self.noLetter }
        return found
    }

    private static let noLetter = APIProblem(.noLetter, "no such dead letter is known here")

    private static func settled(_ letter: DeadLetter) -> APIProblem {
        APIProblem(
            .letterSettled, ProblemText(english: "the letter was \(letter.resolution.rawValue) before"),
            members: [.init("resolution", .string(letter.resolution.rawValue))])
    }

    // MARK: Acts

    /// What a replay would do.
    var letterRehearse: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/dead-letters/{id}/dry-run", "rehearseDeadLetter",
            "Works out what the replay of a letter would do, and changes nothing: a worker does, in a job.",
            for: .staff,
            successes: [
                .init("The job, which has ended: its report says what a replay would do.", AdminShapes.job.schema),
                .init(.accepted, "The job, which no worker has finished within eight seconds.", AdminShapes.job.schema),
            ]
        ) { request in
            let member = try await member(request, for: .rehearseReplay)
            let (letter, _) = try await letter(request, member)
            guard letter.resolution == .open else { throw Self.settled(letter) }
            let deadline = ContinuousClock.now + Self.rehearsalPatience
            do {
                let made = try await jobs.make(
                    JobStore.Draft(
                        .rehearse, DeadLetterFilter(ids: [letter.id], apps: Self.apps(of: member.scope)),
                        upTo: letter.id, confirmed: 1, by: member.actor, why: nil))
                guard let job = try await jobs.job(made.job.id, endedBy: deadline) else {
                    throw JobRefusal.unknown.problem
                }
                let shown = ShownJob(job: job, opening: Opening(shortening: member, audit))
                return APIAnswer(job.hasEnded ? .ok : .accepted, AdminShapes.job.value(of: shown))
            } catch JobRefusal.changed(matching: _) {
                // Settled in between.
                throw Self.settled(try await self.letter(request, member).letter)
            } catch let refusal as JobRefusal { throw refusal.problem }
        }
        endpoint.pathSchemas = Self.letterPath
        endpoint.problems = [.noLetter, .letterSettled, .noJob, .tooManyLetters, .unavailable]
        return endpoint
    }

    private static let rehearsalPatience = Duration.seconds(8)

    /// Back on the queue.
    var letterReplay: AdminEndpoint {
        letterAct(
            "replay", "replayDeadLetter",
            "Puts a letter back on the queue. One that dies again comes back under a new number.", for: .replay
        ) { outbox, filter, actor, reason in
            try await outbox.replay(filter, perSecond: nil, by: actor, why: reason)
        }
    }

    /// Given up.
    var letterDiscard: AdminEndpoint {
        letterAct("discard", "discardDeadLetter", "Gives a letter up, for good.", for: .discard) {
            outbox, filter, actor, reason in
            try await outbox.discard(filter.ids ?? [], by: actor, why: reason)
        }
    }

    private func letterAct(
        _ part: String, _ name: String, _ summary: String, for task: StaffTask,
        _ act:
            @escaping @Sendable (_ outbox: Outbox, _ filter: DeadLetterFilter, _ actor: String, _ reason: String)
            async throws -> [Int64]
    ) -> AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/dead-letters/{id}/\(part)", name, summary, for: .staff,
            successes: [.init("It is done, and on record.", AdminShapes.deadLetter.schema)]
        ) { request in
            let body = try Self.body(request)
            let member = try await member(request, for: task)
            let reason = try Self.reason(body)
            let letter = try await letter(request, member).letter
            let done = try await act(
                outbox, DeadLetterFilter(ids: [letter.id], apps: Self.apps(of: member.scope)), member.actor, reason)
            let now = try await self.letter(request, member).letter
            guard done == [letter.id] else { throw Self.settled(now) }
            return APIAnswer(
                .ok, AdminShapes.deadLetter.value(of: ShownLetter(now, Opening(shortening: member, audit))),
                log: ["dead_letter": "\(letter.id)", "act": "\(part)"])
        }
        endpoint.pathSchemas = Self.letterPath
        endpoint.body = Self.body(name.prefix(1).uppercased() + name.dropFirst() + "Request", [])
        endpoint.problems = [.noLetter, .letterSettled]
        endpoint.refusesFitting = Self.argued
        endpoint.isLogged = true
        return endpoint
    }
}
