import AppStorePayloads
package import Base
import Crypto
package import Events

/// The three headers of one attempt to deliver an event (Standard Webhooks 1.0): the event's id, the time of the
/// attempt, and the signatures over both and the body.
///
/// The id is equal in all attempts, so that a receiver recognizes a repeat. Time and signature are each attempt's own,
/// so that an old attempt cannot be replayed.
package struct WebhookSignature: Sendable, Hashable {
    /// `webhook-id`
    package let id: String
    /// `webhook-timestamp`: whole seconds since 1970.
    package let timestamp: String
    /// `webhook-signature`: one `v1,…` for each secret, a space between them.
    package let signature: String

    /// Signs a body.
    /// - Parameters:
    ///   - id: the event's; only letters, digits, `_` and `-`: with a full stop in it one message could pass for
    ///     another.
    ///   - secrets: the endpoint's; while one is being replaced, the new one and the former ones. At least one.
    /// - Returns: nil where the id is invalid, or no secret is given.
    package init?(_ body: [UInt8], id: String, at instant: Timestamp, secrets: [WebhookSecret]) {
        guard !secrets.isEmpty, !id.isEmpty, id.utf8.allSatisfy(Self.isOfID) else { return nil }
        self.id = id
        let milliseconds = instant.millisecondsSince1970
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        timestamp = String(rest < 0 ? seconds - 1 : seconds)
        let message = Array("\(id).\(timestamp).".utf8) + body
        signature = secrets.map { secret in
            let code = HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret.bytes))
            return "v1," + String(decoding: Base64.standard.encode(Array(code)), as: UTF8.self)
        }.joined(separator: " ")
    }

    /// Names and values, as they are sent.
    package var headers: [(name: String, value: String)] {
        [("webhook-id", id), ("webhook-timestamp", timestamp), ("webhook-signature", signature)]
    }

    private static func isOfID(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
