/// Whom a dead letter is for. The raw values are names that others build on: they never change.
package enum DeadLetterCategory: String, Sendable, Hashable, CaseIterable {
    /// We could not trust it.
    case unverified
    /// We trust it and could not apply it.
    case unprocessable
}
