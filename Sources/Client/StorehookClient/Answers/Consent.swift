public import Foundation

/// The consent of the customer that Apple asks for, as it stands.
public struct Consent: Sendable, Hashable, Decodable {
    /// Whether the customer agrees now.
    public var granted: Bool
    /// Since when.
    public var recordedAt: Date

    private enum CodingKeys: String, CodingKey {
        case granted
        case recordedAt
    }
}
