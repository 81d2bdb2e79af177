package import AppStoreVerification

/// Why a receipt proves nothing: nothing may be given for it. The API answers it as the caller's mistake (400), or where it may pass
/// with 503.
package struct ReceiptRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason's name.
    package let code: VerificationCode
    /// What happened.
    package let message: String

    /// Whether the same receipt may be accepted another time, with nothing changed here.
    package var isTransient: Bool { code.isTransient }

    /// A refusal.
    init(_ code: VerificationCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// What the verifier said.
    init(_ failure: VerificationFailure) { self.init(failure.code, failure.message) }

    /// Code and message.
    package var description: String { "\(code.rawValue): \(message)" }
}
