import Foundation

/// An answer, and when the server gave it by its own clock.
struct Answered<Value: Sendable>: Sendable {
    var value: Value
    /// The answer's `Date`; nil where it has none.
    var date: Date?
}
