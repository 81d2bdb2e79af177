import AppStorePayloads
import Base
import Postgres

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
