import AppStorePayloads
import Foundation

/// A text that is no secret by its form: a key that its owner publishes, or the page that came in its place. As a secret of HS256 it
/// would let anybody who knows it sign tokens of any account.
enum PublicText: String, CaseIterable {
    case pem = "PEM"
    case jwks = "JSON, as a JWK set is"
    case der = "a key or certificate in DER"
    case ssh = "an ssh key"
    case page = "a page of HTML"
    case url = "a URL"

    /// What a text is; nil where it may be a secret.
    init?(_ bytes: [UInt8]) {
        if let found = Self.form(of: bytes) {
            self = found
            return
        }
        // Without its armour PEM is base64, and so is whatever passed through a Kubernetes secret twice.
        guard let inner = Self.decoded(bytes), let found = Self.form(of: inner), found != .page, found != .url,
            found != .jwks || Self.isJSON(inner)
        else { return nil }
        self = found
    }

    private static func form(of bytes: [UInt8]) -> PublicText? {
        if isDER(bytes) { return .der }
        // A byte order mark, and white space.
        let text = String(decoding: bytes, as: UTF8.self).drop { $0 == "\u{FEFF}" || $0.isWhitespace }
        let lower = text.prefix(200).lowercased()
        if text.contains("-----BEGIN ") { return .pem }
        // The names of ssh's kinds of keys, as they begin each key's base64 (RFC 4253, section 6.6, and PROTOCOL.u2f).
        if ["AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAGnNrLXNza", "AAAAInNrLWVj"].contains(
            where: text.contains)
            || text.contains("---- BEGIN SSH2")
            || ["ssh-", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-"].contains(where: lower.hasPrefix)
        {
            return .ssh
        }
        guard isReadable(bytes) else { return nil }
        // By how they begin: half of one is as public as the whole.
        if text.prefixMatch(of: /\{\s*["}]|\[\s*["{\[\]]/) != nil { return .jwks }
        if text.prefix(1000).prefixMatch(of: /<[A-Za-z!?][^>]*>/) != nil { return .page }
        if lower.hasPrefix("https://") || lower.hasPrefix("http://") { return .url }
        return nil
    }

    /// Whether bytes are text, be it in UTF-8 or, for the most part, in ASCII. Of a secret of random bytes one in two is neither.
    private static func isReadable(_ bytes: [UInt8]) -> Bool {
        guard !bytes.contains(where: { $0 < 0x20 && !(0x09...0x0D).contains($0) }) else { return false }
        return String(validating: bytes, as: UTF8.self) != nil || bytes.count { $0 > 0x7E } * 10 < bytes.count * 3
    }

    /// Whether bytes are one SEQUENCE that begins with another or with an INTEGER: SubjectPublicKeyInfo, PKCS #1, PKCS #8, a certificate.
    private static func isDER(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 4, bytes[0] == 0x30 else { return false }
        let (header, length): (Int, Int)
        switch bytes[1] {
        case 0..<0x80: (header, length) = (2, Int(bytes[1]))
        case 0x81...0x84:
            let count = Int(bytes[1] & 0x0F)
            guard bytes.count > 2 + count else { return false }
            (header, length) = (2 + count, bytes[2..<2 + count].reduce(0) { $0 << 8 | Int($1) })
        default: return false
        }
        guard bytes.count > header, bytes[header] == 0x30 || bytes[header] == 0x02 else { return false }
        // Perhaps with a line's end behind it.
        let rest = bytes.dropFirst(header + length)
        return bytes.count >= header + length && rest.count <= 2 && rest.allSatisfy { $0 == 0x0A || $0 == 0x0D }
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil
    }

    /// What base64 or base64url says; nil where it is neither, or says little.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8]? {
        var digits = bytes.filter { $0 > 0x20 && $0 != UInt8(ascii: "=") }.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        guard digits.count >= 32 else { return nil }
        while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: Data(digits)).map { Array($0) }
    }
}
