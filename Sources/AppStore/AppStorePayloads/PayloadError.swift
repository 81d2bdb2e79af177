/// Why a payload cannot be read: what is wrong with which field, never what the field says.
public struct PayloadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line.
    public let message: String

    /// Creates the error from its one line.
    public init(message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
