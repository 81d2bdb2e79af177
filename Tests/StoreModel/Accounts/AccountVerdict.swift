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
    /// With access, when unbroken access ends by what is known at the instant, in epoch milliseconds; nil for never. Without
    /// access, when it ended; nil where there never was any.
    package var expiresAt: Int64?
    /// With access, when the tier becomes another one.
    package var tierUntil: Int64?
    /// With access, when the running period of what decides ends.
    package var periodEndsAt: Int64?
}
