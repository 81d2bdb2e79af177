/// Why an answer of Apple's cannot be used at present.
package enum AnswerTrouble: String, Error, Sendable, Hashable, CustomStringConvertible {
    /// It is not known yet whether a certificate in it was revoked.
    case unsettled = "revocation_unknown"
    /// It is not what Apple documents.
    case unreadable = "unreadable_answer"
    /// By Apple's clock the span that was asked for was not over.
    case early = "clock_skew"
    /// It is longer than what can be kept.
    case tooLong = "answer_too_long"
    /// It is not there yet, and whoever asked waits no longer.
    case late = "deadline_exceeded"
    /// It says that nobody knows what was bought a moment ago.
    case tooFresh = "not_known_yet"

    /// What happened.
    package var description: String {
        switch self {
        case .unsettled: "no responder says whether the certificates in Apple's answer were revoked"
        case .unreadable: "Apple's answer is not what Apple documents"
        case .early: "by Apple's clock the time that was asked for is not over; does the database's clock run fast?"
        case .tooLong: "Apple's answer is longer than the 4 MiB that can be kept of one"
        case .tooFresh: "Apple does not know yet of a purchase that was made a moment ago"
        case .late: "Apple has not answered in the time that somebody waits"
        }
    }
}
