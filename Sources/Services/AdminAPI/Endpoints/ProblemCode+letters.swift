import APIKit
import Base
import EvidenceStore
import HTTPTypes

extension ProblemCode {
    /// There is no such dead letter, or it is another app's.
    static let noLetter = ProblemCode(.notFound, "dead_letter_not_found", "There is no such dead letter")
    /// It was replayed or discarded before.
    static let letterSettled = ProblemCode(.conflict, "dead_letter_settled", "The letter was settled before")
    /// There is no such job, or it is another app's.
    static let noJob = ProblemCode(.notFound, "job_not_found", "There is no such job")
    /// It has ended, or was stopped before.
    static let jobOver = ProblemCode(.conflict, "job_over", "The job has ended")
    /// Another number of letters matches than was confirmed.
    static let letterCountChanged = ProblemCode(
        .conflict, "letter_count_changed", "Another number of letters matches")
    /// More letters match than a job may have.
    static let tooManyLetters = ProblemCode(.badRequest, "too_many_letters", "Too many letters for one job")
}

extension JobRefusal {
    /// The problem that it is.
    var problem: APIProblem {
        switch self {
        case .unknown: APIProblem(.noJob, "no such job is known here")
        case .changed(let matching):
            APIProblem(
                .letterCountChanged,
                ProblemText(english: "\(matching) letters match now: look at them, and confirm that number"),
                members: [.init("matching", .integer(matching))])
        case .tooMany(let most):
            APIProblem(
                .tooManyLetters,
                ProblemText(english: "one job has \(most) letters at most: narrow the filter, and make several"))
        case .unseen(let most):
            APIProblem(
                .tooManyLetters,
                ProblemText(
                    english:
                        "more than \(most) letters are open, and no more are looked through for a job: give downTo of the list, or ids"
                ))
        case .busy:
            APIProblem.unavailable("as many jobs as there may be are still to be carried out", retryAfter: 30)
        case .over(let state):
            APIProblem(
                .jobOver, ProblemText(english: "the job was stopped before, or has ended"),
                members: [.init("state", .string(state.rawValue))])
        }
    }
}
