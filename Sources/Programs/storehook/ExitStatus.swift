import Base

/// The program's exit statuses: scripts rely on them.
enum ExitStatus: Int32, Error {
    /// Done, or "yes" as an answer.
    case done = 0
    /// Failed, or "no" as an answer.
    case failed = 1
    /// Wrong usage, a missing or bad setting included.
    case usage = 2
    /// The database's schema does not fit this binary.
    case schemaMismatch = 57
}

/// A command's failure: one line that says what to do, and the status to leave with.
struct CommandFailure: Error {
    let message: String
    let status: ExitStatus

    init(_ message: String, status: ExitStatus = .failed) {
        self.message = message
        self.status = status
    }

    /// That a file which was named cannot be read, and why.
    /// - Parameter place: what the line begins with.
    static func unreadable(_ path: String, _ what: String = "", place: String = "") -> CommandFailure {
        let why = PlainFile.unreadable(path).map { ": \($0)" } ?? ""
        return CommandFailure("\(place)cannot read \(what)\(path)\(why)", status: .usage)
    }
}
