import AppStorePayloads
public import Base

/// A token that Apple accepts for some minutes. It grants the rights of the key, so it is never printed.
public struct AccessToken: Sendable, Hashable {
    /// For the header `Authorization` alone.
    public let headerValue: String
    /// When it ends.
    public let expires: Timestamp

    init(_ token: String, expires: Timestamp) {
        headerValue = "Bearer \(token)"
        self.expires = expires
    }

    /// Whether it can still be used: not in its last minute, which belongs to the way and to clocks that differ.
    func isUsable(at now: Timestamp) -> Bool { now < expires.adding(seconds: -60) }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of what it holds.
    public var description: String { "(token until \(expires))" }

    /// Nothing of what it holds.
    public var debugDescription: String { description }

    /// Nothing of what it holds.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
