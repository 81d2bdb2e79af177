import AppStorePayloads
import Base
import FoundationEssentials

/// The JSON text of what is sent: members sorted by name, those without a value left out.
struct RequestBody {
    private enum Value: Encodable {
        case text(String)
        case number(Int64)
        case flag(Bool)
        case texts([String])

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .flag(let value): try container.encode(value)
            case .texts(let value): try container.encode(value)
            }
        }
    }

    private var members: [String: Value] = [:]

    init(_ fill: (inout RequestBody) -> Void = { _ in }) { fill(&self) }

    mutating func add(_ name: String, _ value: String?) { members[name] = value.map(Value.text) }
    mutating func add(_ name: String, _ value: Int64?) { members[name] = value.map(Value.number) }
    mutating func add(_ name: String, _ value: Bool?) { members[name] = value.map(Value.flag) }
    mutating func add(_ name: String, _ value: Timestamp?) { add(name, value?.millisecondsSince1970) }
    mutating func add(_ name: String, _ values: [String]) { members[name] = values.isEmpty ? nil : .texts(values) }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, whole numbers, truth values and lists of texts: nothing that JSON cannot hold.
        return (try? encoder.encode(members)).map { Array($0) } ?? []
    }
}
