/// Why something is not trusted: a code for programs and one line for people.
///
/// The line may name a certificate's serial number, a field, a served environment, or the app that a signed payload is about; never
/// anything else that the payload says.
public struct VerificationFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason.
    public let code: VerificationCode
    /// What happened and, where possible, what to do.
    public let message: String

    /// Creates a failure.
    public init(_ code: VerificationCode, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Code and message.
    public var description: String { "\(code.rawValue): \(message)" }

    /// The failure, attributed to a part of the payload.
    func inside(_ part: String) -> VerificationFailure { VerificationFailure(code, "\(part): \(message)") }
}
