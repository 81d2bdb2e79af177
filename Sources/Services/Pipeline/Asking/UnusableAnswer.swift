import AppStoreServerAPI

/// Why an answer of Apple's cannot be used at present.
package enum UnusableAnswer: String, Error, Sendable, Hashable, CustomStringConvertible {
    /// It is not known yet whether a certificate in it was revoked.
    case unsettled = "revocation_unknown"
    /// It is not what Apple documents.
    case unreadable = "unreadable_answer"
    /// By Apple's clock the span that was asked for was not over.
    case early = "clock_skew"
    /// It is longer than what can be kept.
    case tooLong = "answer_too_long"
    /// It is a list that goes on and on.
    case endless = "answer_without_end"
    /// It did not come before the deadline.
    case late = "deadline_exceeded"
    /// It does not know yet of what was bought a moment ago.
    case tooFresh = "not_known_yet"

    /// What happened.
    package var description: String {
        switch self {
        case .unsettled: "no responder says whether the certificates in Apple's answer were revoked"
        case .unreadable: "Apple's answer is not what Apple documents"
        case .early: "by Apple's clock the time that was asked for is not over; does the database's clock run fast?"
        case .tooLong: "Apple's answer is longer than the 4 MiB that can be kept of one"
        case .endless: "Apple's list goes on after more pages than are asked for"
        case .tooFresh: "Apple does not know yet of a purchase that was made a moment ago"
        case .late: "Apple has not answered in the time that somebody waits"
        }
    }

    /// Whether an error is about Apple's answer, or that there is none.
    static func isReason(for error: any Error) -> Bool { error is AppStoreFailure || error is UnusableAnswer }

    /// Such an error's code and message, in one line.
    static func line(_ error: any Error) -> String {
        (error as? UnusableAnswer).map { "\($0.rawValue): \($0)" } ?? "\(error)"
    }
}
