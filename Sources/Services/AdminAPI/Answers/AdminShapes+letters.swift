import AppStorePayloads
import Base
import EvidenceStore
import Operations
import Postgres
import Subscriptions

extension AdminShapes {
    /// A dead letter in a list.
    static let deadLetter = Shape<ShownLetter, Void>(
        "DeadLetter",
        [
            .init("id", "Its number: another one where it is replayed and dies again.") { $0.letter.id },
            .init(
                "category", letterCategories,
                "unverified: it could not be trusted, and nobody vouches for what it says."
            ) {
                .string($0.letter.category.rawValue)
            },
            .init("reason", "The code; the runbook has an entry for each.") { $0.letter.reason },
            .init("message") { $0.letter.message },
            .init("kind", "What was stored.") { $0.letter.kind.rawValue },
            .init("source", "Which way it came.") { $0.letter.source.rawValue },
            .init("type", "As it says itself, like subtype, app and notificationUUID.") { $0.letter.type },
            .init("subtype") { $0.letter.subtype }, .init("app") { $0.letter.bundleID },
            .init("notificationUUID") { $0.letter.notificationUUID },
            .init("attempts") { $0.letter.attempts }, .init("receivedAt") { $0.letter.receivedAt },
            .init("deadAt") { $0.letter.deadAt },
            .init("resolution", letterResolutions) { .string($0.letter.resolution.rawValue) },
            .init("resolvedAt") { $0.letter.resolvedAt }, .init("resolvedBy") { $0.letter.resolvedBy },
            .init("resolvedWhy", "Shortened unless it is opened.") { $0.why },
            .init("job", "The job that settled it.") { $0.letter.jobID },
        ])

    /// Whether a letter waits, or what was done.
    static let letterResolutions = ValueSchema.choice(DeadLetterResolution.allCases.map(\.rawValue))
    private static let letterCategories = ValueSchema.choice(DeadLetterCategory.allCases.map(\.rawValue))

    /// A dead letter by itself.
    static let deadLetterDetail = deadLetter.after([], named: "DeadLetterDetail") { (detail: ShownLetterDetail) in
        detail.shown
    }
    .changed(
        named: "DeadLetterDetail",
        adding: [
            .init("header", letterJSON, "Of its JWS; null where it cannot be decoded.") { $0.content.header },
            .init("payload", letterJSON, "What it says; null where it cannot be decoded.") { $0.content.payload },
            .list("parts", letterPart, about: "The JWS within its payload, decoded.") { $0.content.parts },
            .init("jws", "The bytes as they came.") { $0.content.text },
            .init("unreadable", "Why there are none; null where there are.") { $0.content.unreadable },
            .list("history", letterAttempt, about: "The attempts that ended otherwise than well, the first first.") {
                $0.attempts
            },
            .nullable("queued", queuedEvidence, about: "How it stands on the queue, where it was replayed.") {
                $0.queued
            },
            .list("letters", letterOfEvidence, about: "All letters about the same evidence.") { $0.letters },
        ])

    static let letterJSON = ValueSchema.nullable(.object([]))

    static let letterPart = Shape<DecodedJWS.Part, Void>(
        "DecodedPart", [.init("name") { $0.name }, .init("payload", letterJSON) { $0.payload }])

    private static let letterAttempt = Shape<ShownAttempt, Void>(
        "EvidenceAttempt",
        [
            .init("attempt", "Counted anew where a letter is replayed.") { $0.attempt.number },
            .init("worker", "Null where it vanished.") { $0.attempt.worker },
            .init("beganAt") { $0.attempt.beganAt }, .init("endedAt") { $0.attempt.endedAt },
            .init("waitedMilliseconds", "Since the attempt before, or since the receipt.") { $0.waited },
            .init("workedMilliseconds") { $0.worked }, .init("reason") { $0.attempt.reason },
            .init("message") { $0.attempt.message },
        ])

    private static let queuedEvidence = Shape<QueuedEvidence, Void>(
        "QueuedEvidence",
        [
            .init("nextAttemptAt", "Or when the lease of the worker ends that has it.") { $0.dueAt },
            .init("attempts") { $0.attempts }, .init("worker") { $0.worker }, .init("lastReason") { $0.lastReason },
        ])

    private static let letterOfEvidence = Shape<DeadLetter, Void>(
        "LetterOfEvidence",
        [
            .init("id") { $0.id }, .init("deadAt") { $0.deadAt }, .init("reason") { $0.reason },
            .init("resolution", letterResolutions) { .string($0.resolution.rawValue) },
            .init("resolvedAt") { $0.resolvedAt }, .init("resolvedBy") { $0.resolvedBy },
        ])

    // MARK: Jobs

    /// A job.
    static let job = Shape<ShownJob, Void>(
        "Job",
        [
            .init("id", "Its number.") { $0.job.id }, .init("act", jobActs) { .string($0.job.act.rawValue) },
            .init("state", jobStates) { .string($0.job.state.rawValue) },
            .init("isStopping", "Whether somebody stopped it, and its worker has not noticed yet.") {
                $0.job.stoppedAt != nil && !$0.job.hasEnded
            },
            .init("filter", .object([]), "What was looked for; its text shortened unless it is opened.") { shown in
                shown.job.filter(showing: shown.opening)
            },
            .init("upTo", "The newest letter when it was confirmed: those that came later are not in it.") {
                $0.job.upTo
            },
            .init("perSecond") { $0.job.perSecond }, .init("total", "Its letters.") { $0.job.total },
            .init("done", "Those that it settled.") { $0.job.isCounted ? $0.job.done : nil },
            .init("skipped", "Those that somebody had settled before.") { $0.job.isCounted ? $0.job.skipped : nil },
            .init("error", "Why it could not be done.") { $0.job.error },
            .init(
                "report", .nullable(ReplayDryRun.Report.shape.schema),
                "What a rehearsal has found; null in lists, where getJob has it."
            ) {
                .written($0.job.report?.bytes)
            },
            .init("actor", "Who asked for it.") { $0.job.actor },
            .init("why", "Shortened unless it is opened, like stoppedWhy.") { $0.opening.text($0.job.why) },
            .init("createdAt") { $0.job.createdAt }, .init("begunAt") { $0.job.begunAt },
            .init("endedAt") { $0.job.endedAt }, .init("stoppedAt") { $0.job.stoppedAt },
            .init("stoppedBy") { $0.job.stoppedBy }, .init("stoppedWhy") { $0.opening.text($0.job.stoppedWhy) },
        ])

    /// One that was made.
    static let madeJob = job.after([], named: "MadeJob") { (made: MadeJob) in made.shown }.changed(
        named: "MadeJob",
        adding: [
            .init("later", "Letters that match and came after it was confirmed, 10,000 at most: they are not in it.") {
                $0.later
            }
        ])

    /// A letter of a job.
    static let jobItem = Shape<JobItem, Void>(
        "JobResult",
        [
            .init("letter") { $0.letterID },
            .init("outcome", "done; skipped where somebody had settled it before; null while it waits.") { $0.outcome },
            .init("endedAt") { $0.endedAt }, .init("reason", "Null where the letter is gone by now.") { $0.reason },
            .init("type") { $0.type }, .init("resolution", "How the letter stands.") { $0.resolution },
        ])

    /// What a job does.
    static let jobActs = ValueSchema.named("JobAct", .choice(Job.Act.allCases.map(\.rawValue)))
    /// How far it is.
    static let jobStates = ValueSchema.named("JobState", .choice(Job.State.allCases.map(\.rawValue)))
}

extension Job {
    /// What was looked for as a text, which may be a person's.
    var filterText: String? { (try? JSONDocument(filter.bytes).object)?.string("text") }

    /// What was looked for, its text as texts are shown.
    func filter(showing opening: Opening) -> JSONValue {
        guard let object = try? JSONDocument(filter.bytes).object else { return .object([]) }
        return .object(
            object.members.map { member in
                .init(
                    member.name,
                    member.name == "text" ? .text(opening.text(member.value.string)) : JSONValue(member.value))
            })
    }
}
