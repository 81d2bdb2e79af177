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
    /// Foundation's UUID as Apple's.
    package init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) {
            UniqueIdentifier(
                high: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}

extension PostgresJSON {
    /// A member's value.
    enum Value {
        case text(String)
        case number(Int64)
    }

    /// A flat object; members without a value are left out.
    init(object members: [(name: String, value: Value?)]) {
        let written = members.compactMap { member -> String? in
            switch member.value {
            case .text(let text): "\(Self.quoted(member.name)):\(Self.quoted(text))"
            case .number(let number): "\(Self.quoted(member.name)):\(number)"
            case nil: nil
            }
        }
        self.init("{\(written.joined(separator: ","))}")
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        // jsonb cannot hold U+0000.
        bytes.appendJSON(text.replacing("\0", with: "\u{FFFD}"))
        return String(decoding: bytes, as: UTF8.self)
    }
}
