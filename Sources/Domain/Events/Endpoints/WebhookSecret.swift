import AppStorePayloads

/// What an endpoint's deliveries are signed with: `whsec_` and the base64 of its bytes (Standard Webhooks 1.0).
///
/// Neither its description nor a dump of it shows the bytes; ``text`` does.
public struct WebhookSecret: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// How many bytes a new one has.
    public static let size = 32
    /// How many bytes one may have, by the specification.
    static let sizes = 24...64
    private static let prefix = "whsec_"

    /// The bytes, for encrypted storage.
    public let bytes: [UInt8]

    /// A new one, out of the system's random numbers.
    public init() {
        var system = SystemRandomNumberGenerator()
        bytes = (0..<Self.size).map { _ in UInt8.random(in: .min ... .max, using: &system) }
    }

    /// One of 24 to 64 bytes; nil for any other number of them.
    public init?(bytes: [UInt8]) {
        guard Self.sizes.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Reads what ``text`` gives; nil for anything else.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix),
            let bytes = Base64.standard.decode(Array(text.utf8.dropFirst(Self.prefix.utf8.count)))
        else { return nil }
        self.init(bytes: bytes)
    }

    /// What the receiver is given, once.
    public var text: String { Self.prefix + String(decoding: Base64.standard.encode(bytes), as: UTF8.self) }

    /// Nothing of the bytes.
    public var description: String { Self.prefix + "…" }

    /// Nothing of the bytes.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
