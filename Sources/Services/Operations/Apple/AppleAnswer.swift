import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
import Base
import Foundation

/// What Apple has answered, for people and for scripts. What is signed in it was verified; nothing else of it is shown.
package struct AppleAnswer: Sendable {
    /// One JSON object; payloads go out as they were signed, byte for byte.
    package let json: String
    /// Lines for people.
    package let text: String
    /// What was kept back.
    package let refused: [RefusedRecord]

    /// An answer of these members, JSON texts by name in this order, from this environment.
    init(
        _ environment: Environment, _ members: [(String, String)], unknown: [String: [UInt8]] = [:],
        refused: [RefusedRecord] = [], text: String
    ) {
        var members = [("environment", Self.quoted(environment.rawValue))] + members
        if !unknown.isEmpty {
            let fields = unknown.sorted { $0.key < $1.key }.map { name, json in
                (name, String(decoding: json, as: UTF8.self))
            }
            members.append(("unknown_fields", Self.object(fields)))
        }
        if !refused.isEmpty {
            members.append(
                (
                    "refused",
                    Self.list(
                        refused.map { record in
                            Self.object([
                                ("index", "\(record.index)"), ("code", Self.quoted(record.failure.code.rawValue)),
                                ("message", Self.quoted(record.failure.message)),
                            ])
                        })
                ))
        }
        json = Self.object(members)
        self.refused = refused
        self.text = text
    }

    static func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\(quoted($0.0)):\($0.1)" }.joined(separator: ",") + "}"
    }

    static func list(_ values: [String]) -> String { "[" + values.joined(separator: ",") + "]" }

    static func payload(_ json: [UInt8]?) -> String { json.map { String(decoding: $0, as: UTF8.self) } ?? "null" }

    static func quoted(_ text: String?) -> String {
        guard let text else { return "null" }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        // A text is always one that JSON can hold.
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }

    static func instant(_ instant: Timestamp?) -> String { quoted(instant.map { "\($0)" }) }
}
