/// What an account is at an instant.
package struct AccountVerdict: Sendable, Hashable {
    /// The name that users see.
    package var status: String
    /// The tier; the lowest without access.
    package var tier: String
    /// Whether it has what its tier gives.
    package var access: Bool
    /// `apple`, `grant`, `trial` or `none`.
    package var source: String
    /// Whether a purchase has ended and its renewal is waited for: when that ends nobody knows yet.
    package var isWaiting = false
    /// With access, when unbroken access ends by what is known at the instant, in epoch milliseconds; nil for never.
    package var accessUntil: Int64?
    /// With access, when the tier becomes another one.
    package var tierUntil: Int64?
}
