/// A value of a list of Apple's that may grow: the raw value as Apple sent it.
///
/// Every such type is a struct around the raw value rather than an enum, so that a value Apple adds later survives
/// decoding, storing and comparing unchanged. `isKnown` says whether this release has a name for it.
public protocol AppleCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible
where RawValue: Hashable & Sendable & CustomStringConvertible {
    /// The values this release knows.
    static var known: Set<Self> { get }

    /// Keeps any raw value, known or not.
    init(rawValue: RawValue)
}

extension AppleCode {
    /// Whether this release has a name for the value.
    public var isKnown: Bool { Self.known.contains(self) }

    /// The raw value as Apple writes it.
    public var description: String { rawValue.description }
}
