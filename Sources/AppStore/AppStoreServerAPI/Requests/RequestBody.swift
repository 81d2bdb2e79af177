import AppStorePayloads
import Base

/// The JSON text of what is sent: members sorted by name, those without a value left out.
struct RequestBody {
    private var members: [JSONValue.Member] = []

    init(_ fill: (inout RequestBody) -> Void = { _ in }) { fill(&self) }

    mutating func add(_ name: String, _ value: String?) { add(name, value.map(JSONValue.string)) }
    mutating func add(_ name: String, _ value: Int64?) { add(name, value.map(JSONValue.integer)) }
    mutating func add(_ name: String, _ value: Bool?) { add(name, value.map(JSONValue.bool)) }
    /// In milliseconds since 1970.
    mutating func add(_ name: String, _ value: Timestamp?) { add(name, value?.millisecondsSince1970) }
    /// Left out if empty.
    mutating func add(_ name: String, _ values: [String]) {
        if !values.isEmpty { add(name, values.json) }
    }

    private mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { members.append(.init(name, value)) }
    }

    var bytes: [UInt8] { JSONValue.object(members).sorted.bytes }
}
