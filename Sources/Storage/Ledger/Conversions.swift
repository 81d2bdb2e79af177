public import AppStorePayloads
public import Foundation
package import Postgres

// The two sides of the boundary between Apple's types and PostgreSQL's.

extension PostgresTimestamp {
    /// Apple's milliseconds; what lies beyond PostgreSQL's calendar becomes its first or last instant.
    package init(_ timestamp: Timestamp) { self.init(millisecondsSince1970: timestamp.millisecondsSince1970) }
}

extension Timestamp {
    /// The database's microseconds, to the millisecond.
    package init(_ timestamp: PostgresTimestamp) { self.init(millisecondsSince1970: timestamp.millisecondsSince1970) }
}

extension UUID {
    /// Apple's UUID as Foundation's, which is what PostgreSQL's `uuid` is bound as.
    public init(_ identifier: UniqueIdentifier) {
        var bytes = uuid_t(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) {
            $0.storeBytes(of: identifier.high.bigEndian, toByteOffset: 0, as: UInt64.self)
            $0.storeBytes(of: identifier.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        self.init(uuid: bytes)
    }
}

extension UniqueIdentifier {
    init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) {
            UniqueIdentifier(
                high: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}

extension PostgresJSON {
    /// `{"column":["before","after"],…}`, NULL as null.
    init(_ differences: [StateChange.Difference]) {
        let members = differences.map { difference in
            "\(Self.quoted(difference.column)):[\(Self.quoted(difference.before)),\(Self.quoted(difference.after))]"
        }
        self.init("{\(members.joined(separator: ","))}")
    }

    private static func quoted(_ text: String?) -> String {
        guard let text else { return "null" }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\0": quoted += "\u{FFFD}"  // jsonb cannot hold it
            case "\u{01}"..."\u{1F}":
                let hex = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
