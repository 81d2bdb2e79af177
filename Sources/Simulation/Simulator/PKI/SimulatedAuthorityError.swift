/// Why a simulated authority could not be made, saved or read.
public struct SimulatedAuthorityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line: what happened and what to do.
    public let message: String

    /// Creates the error from its one line.
    public init(message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
