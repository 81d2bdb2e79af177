public import AppStoreVerification

/// Why an answer of status 2xx is not passed on.
public enum AnswerFault: Error, Sendable, Hashable {
    /// The record that it is about does not verify.
    case refused(VerificationFailure)
    /// It is not what Apple documents. The text names the fault, and never contains the answer's content.
    case unreadable(String)
}
