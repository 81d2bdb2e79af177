/// What kind of failure a dead letter is. The raw values are stored and sent, so they never change.
package enum DeadLetterCategory: String, Sendable, Hashable, CaseIterable {
    /// It could not be verified.
    case unverified
    /// It was verified and could not be applied.
    case unprocessable
}
