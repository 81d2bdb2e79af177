/// One line of the doctor's.
struct Finding: Encodable, Sendable {
    enum Status: String, Encodable, Sendable {
        case ok
        /// Something is to be done, and the message says what.
        case failed
        /// Could not be looked at, for a reason that is no fault or is named in another line.
        case skipped
    }

    let check: String
    let status: Status
    let message: String

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, status: .ok, message: message)
    }

    static func failed(_ check: String, _ message: String) -> Finding {
        Finding(check: check, status: .failed, message: message)
    }

    static func skipped(_ check: String, _ message: String) -> Finding {
        Finding(check: check, status: .skipped, message: message)
    }
}
