/// Why a shop cannot be opened, or cannot go on.
public struct StandInFault: Error, Sendable, CustomStringConvertible {
    /// One line: what is wrong, and what to do.
    public let description: String
}
