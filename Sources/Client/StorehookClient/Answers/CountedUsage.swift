/// What the server answers to a report of use that it has counted.
public struct CountedUsage: Sendable, Hashable, Decodable {
    /// What the account may use of the feature after it, and what it has used.
    public var feature: FeatureAnswer
    /// How much was counted by this request, or by the one with the same key.
    public var counted: Int64
    /// Whether the same key was counted before.
    public var duplicate: Bool

    private enum CodingKeys: String, CodingKey { case counted, duplicate }

    /// Reads an answer, in which the feature's members stand beside the other ones.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        counted = try members.decode(Int64.self, forKey: .counted)
        duplicate = try members.value(.duplicate)
        feature = try FeatureAnswer(from: decoder)
    }
}
