import AppStorePayloads
import Base
import EvidenceStore

/// What a dead letter says, decoded as far as it can be. Nothing in it is verified.
struct DecodedJWS: Sendable {
    /// The bytes as they were posted, or why they cannot be shown.
    let text: String?
    /// Why there are no bytes; nil where there are.
    let unreadable: String?
    /// The header; null where it is no JSON object.
    let header: JSONValue
    /// The payload; null where it is no JSON object.
    let payload: JSONValue
    /// The JWS within the payload.
    let parts: [Part]

    /// A JWS within another one.
    struct Part: Sendable {
        /// Where it stands.
        let name: String
        /// Its payload; null where it is no JSON object.
        let payload: JSONValue
    }

    /// The most values of an object that is shown: each costs memory beside its text.
    private static let mostValues = 50_000

    /// - Parameter body: nil where the bytes are gone, or not shown.
    init(_ body: OpenedBody?) {
        switch body {
        case .success(let bytes):
            unreadable = nil
            text = String(validating: bytes, as: UTF8.self)
            let segments = Self.segments(bytes)
            header = Self.json(Self.document(segments.first))
            let document = Self.document(segments.dropFirst().first)
            payload = Self.json(document)
            parts = document?.object.map { Self.parts(of: $0) } ?? []
        case .failure(let why):
            (text, unreadable, header, payload, parts) = (nil, why.description, .null, .null, [])
        case nil:
            (text, unreadable, header, payload, parts) = (nil, "its bytes are gone", .null, .null, [])
        }
    }

    private static func parts(of object: JSONObject) -> [Part] {
        let places: [(part: String, member: String)] = [
            ("data", "signedTransactionInfo"), ("data", "signedRenewalInfo"),
            ("appData", "signedAppTransactionInfo"),
        ]
        return places.compactMap { place in
            guard let text = object[place.part]?.object?[place.member]?.string else { return nil }
            return Part(
                name: "\(place.part).\(place.member)",
                payload: json(document(segments(Array(text.utf8)).dropFirst().first)))
        }
    }

    private static func segments(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    }

    private static func document(_ segment: ArraySlice<UInt8>?) -> JSONDocument? {
        guard let segment, let bytes = Base64.url.decode(Array(segment)) else { return nil }
        return try? JSONDocument(bytes, maximumValues: mostValues)
    }

    private static func json(_ document: JSONDocument?) -> JSONValue {
        guard let document, document.object != nil else { return .null }
        return .written(document.bytes)
    }
}
