/// Why a certificate or its key cannot be used: one line, with the file's name and nothing of its contents.
public struct TLSIdentityError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line for people.
    public let description: String

    init(_ description: String) { self.description = description }
}
