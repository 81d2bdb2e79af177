/// Why a payload cannot be read: the field and its fault, never the field's content.
public struct PayloadError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line.
    public let message: String

    /// Creates the error from its one line.
    public init(message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
