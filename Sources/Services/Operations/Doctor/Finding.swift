import Base

/// One line of the doctor's.
package struct Finding: Sendable {
    /// What came of a check.
    package enum Status: String, Sendable {
        case ok
        /// Something is to be done, and the message says what.
        case failed
        /// Could not be looked at, for a reason that is no fault or is named in another line.
        case skipped
    }

    /// What was looked at.
    package let check: String
    /// What came of it.
    package let status: Status
    /// What was found and, where something is to be done, what.
    package let message: String

    /// All is well.
    package static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, status: .ok, message: message)
    }

    /// Something is to be done.
    package static func failed(_ check: String, _ message: String) -> Finding {
        Finding(check: check, status: .failed, message: message)
    }

    /// Could not be looked at.
    package static func skipped(_ check: String, _ message: String) -> Finding {
        Finding(check: check, status: .skipped, message: message)
    }
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
        .init("message", column: "ANSWER", \.message),
    ])
}
