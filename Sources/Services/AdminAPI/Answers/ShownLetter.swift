import Base
import EvidenceStore
import Postgres

/// A dead letter, as a member of the staff sees it.
struct ShownLetter: Sendable {
    /// The letter.
    let letter: DeadLetter
    /// Why it was settled, as it is shown.
    let why: String?
    /// How many personal texts are shown in full.
    let openedTexts: Int64

    init(_ letter: DeadLetter, _ opening: Opening) {
        self.letter = letter
        why = opening.text(letter.resolvedWhy)
        openedTexts = opening.isOpen && letter.resolvedWhy != nil ? 1 : 0
    }

    /// Without personal texts in full.
    init(shortening letter: DeadLetter) {
        self.letter = letter
        why = letter.resolvedWhy.map { PersonalText.shortened($0) }
        openedTexts = 0
    }
}

/// A dead letter with what it says, and how the attempts at it went.
struct ShownLetterDetail: Sendable {
    /// The letter.
    let shown: ShownLetter
    /// What it says.
    let content: DecodedJWS
    /// The attempts.
    let attempts: [ShownAttempt]
    /// How its evidence stands on the queue, if it was replayed.
    let queued: QueuedEvidence?
    /// All letters about the same evidence, this one included.
    let letters: [DeadLetter]
}

/// An attempt at a piece of evidence, and how long it was waited for.
struct ShownAttempt: Sendable {
    /// The attempt.
    let attempt: EvidenceAttempt
    /// From the end of the attempt before, or from the receipt, to its begin; nil where that is not known.
    let waited: Int64?
    /// From its begin to its end; likewise.
    let worked: Int64?

    /// The attempts in their order.
    static func all(_ attempts: [EvidenceAttempt], of letter: DeadLetter) -> [ShownAttempt] {
        var before = letter.receivedAt
        return attempts.map { attempt in
            defer { before = attempt.endedAt ?? before }
            return ShownAttempt(
                attempt: attempt,
                waited: attempt.beganAt.map { max(0, $0.millisecondsSince1970 - before.millisecondsSince1970) },
                worked: attempt.beganAt.flatMap { began in
                    attempt.endedAt.map { max(0, $0.millisecondsSince1970 - began.millisecondsSince1970) }
                })
        }
    }
}

/// A job, as a member of the staff sees it.
struct ShownJob: Sendable {
    /// The job.
    let job: Job
    /// How its personal texts are shown.
    let opening: Opening

    /// How many are shown in full.
    var openedTexts: Int64 {
        guard opening.isOpen else { return 0 }
        return Int64([job.why, job.stoppedWhy].count { $0 != nil }) + (job.filterText == nil ? 0 : 1)
    }
}

/// A job that was made.
struct MadeJob: Sendable {
    /// The job.
    let shown: ShownJob
    /// How many letters match that came after it was confirmed.
    let later: Int64
}
