import Base

/// One line of the doctor's.
package struct Finding: Sendable {
    /// What came of a check.
    package enum Status: String, Sendable, CaseIterable {
        case ok
        /// Something is to be done, and the message says what.
        case failed
        /// Could not be looked at, for a reason that is no fault or is named in another line.
        case skipped
    }

    /// The result of a check: what was found and, where the operator must act, what to do.
    package struct Answer: Sendable {
        package let status: Status
        package let message: String

        /// All is well.
        package static func ok(_ message: String) -> Answer { Answer(status: .ok, message: message) }

        /// Something is to be done.
        package static func failed(_ message: String) -> Answer { Answer(status: .failed, message: message) }

        /// Could not be looked at.
        package static func skipped(_ message: String) -> Answer { Answer(status: .skipped, message: message) }
    }

    /// What was looked at.
    package let check: String
    /// What came of it.
    package let answer: Answer

    /// What came of a check.
    package init(_ check: String, _ answer: Answer) {
        self.check = check
        self.answer = answer
    }

    /// All is well.
    package static func ok(_ check: String, _ message: String) -> Finding { Finding(check, .ok(message)) }

    /// Something is to be done.
    package static func failed(_ check: String, _ message: String) -> Finding { Finding(check, .failed(message)) }

    /// Could not be looked at.
    package static func skipped(_ check: String, _ message: String) -> Finding { Finding(check, .skipped(message)) }

    /// What came of it, in a word.
    package var status: Status { answer.status }
}

extension CommandAnswer {
    /// What the doctor has found, a line each.
    package init(_ findings: [Finding]) {
        self.init(findings, Self.finding, ifEmpty: "")
    }

    private static let finding = CommandShape<Finding>([
        .column("") { finding in
            switch finding.status {
            case .ok: "ok"
            case .failed: "TO DO"
            case .skipped: "-"
            }
        },
        .init("check", column: "CHECK", \.check), .init("status", \.status.rawValue),
        .init("message", column: "ANSWER", \.answer.message),
    ])
}
