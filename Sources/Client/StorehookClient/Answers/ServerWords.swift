/// Words of the server's. A word of a later release is `.unknown`, and locks no customer out.
public protocol ServerWords: RawRepresentable, Codable, Sendable, Hashable where RawValue == String {
    /// Those that this release knows.
    static var words: [Self] { get }
    /// A word that this release does not know.
    static func unknown(_ word: String) -> Self
}

extension ServerWords {
    /// The word that the server writes so.
    public init(rawValue: String) { self = Self.words.first { $0.rawValue == rawValue } ?? .unknown(rawValue) }
}
