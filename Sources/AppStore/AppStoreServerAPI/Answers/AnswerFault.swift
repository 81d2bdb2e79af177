public import AppStoreVerification

/// Why an answer of status 2xx is not passed on.
public enum AnswerFault: Error, Sendable, Hashable {
    /// The record that it is about does not verify.
    case refused(VerificationFailure)
    /// It is not what Apple documents; the text says what is wrong with it, never what it says.
    case unreadable(String)
}
