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

extension Consent {
    /// Reads an answer. What is missing is nil, empty or none, but for `granted`, `recordedAt`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        granted = try members.decode(Bool.self, forKey: .granted)
        recordedAt = try members.decode(Date.self, forKey: .recordedAt)
    }
}
