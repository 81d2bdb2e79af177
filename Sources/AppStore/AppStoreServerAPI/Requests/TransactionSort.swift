/// The order of a customer's transactions: by when a record last changed.
public enum TransactionSort: String, Sendable {
    /// The oldest change first: Apple's default.
    case ascending = "ASCENDING"
    /// The latest change first.
    case descending = "DESCENDING"
}
