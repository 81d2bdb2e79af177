package import Foundation

/// A type with one form in JSON: a ``Shape`` takes a member's value and schema from it.
package protocol JSONConvertible: Sendable {
    /// The value as JSON.
    var json: JSONValue { get }
    /// The schema of that JSON.
    static var schema: ValueSchema { get }
}

extension JSONConvertible where Self: RawRepresentable, RawValue == String {
    /// Its word.
    package var json: JSONValue { .string(rawValue) }
    /// Any word.
    package static var schema: ValueSchema { .text }
}

extension JSONConvertible where Self: RawRepresentable & CaseIterable, RawValue == String {
    /// One of its words.
    package static var schema: ValueSchema { .choice(allCases.map(\.rawValue)) }
}

/// Some words with a name in `/openapi.json`: a program that makes a client of it calls the type so.
package protocol NamedWords: JSONConvertible, CaseIterable, RawRepresentable where RawValue == String {
    /// The name.
    static var schemaName: String { get }
}

extension NamedWords {
    /// That of the type in Swift.
    package static var schemaName: String { "\(Self.self)" }
    /// One of its words, by name.
    package static var schema: ValueSchema { .named(schemaName, .choice(allCases.map(\.rawValue))) }
}

extension String: JSONConvertible {
    /// It.
    package var json: JSONValue { .string(self) }
    /// Any text.
    package static var schema: ValueSchema { .text }
}

extension Bool: JSONConvertible {
    /// It.
    package var json: JSONValue { .bool(self) }
    /// `true` or `false`
    package static var schema: ValueSchema { .boolean }
}

extension Int64: JSONConvertible {
    /// It.
    package var json: JSONValue { .integer(self) }
    /// Any.
    package static var schema: ValueSchema { .integer() }
}

extension Int: JSONConvertible {
    /// It.
    package var json: JSONValue { .integer(Int64(self)) }
    /// Any.
    package static var schema: ValueSchema { .integer() }
}

extension Timestamp: JSONConvertible {
    /// As RFC 3339 has it, in UTC.
    package var json: JSONValue { .time(self) }
    /// An RFC 3339 instant.
    package static var schema: ValueSchema { .time }
}

extension UniqueIdentifier: JSONConvertible {
    /// In lower case.
    package var json: JSONValue { .string(description) }
    /// A UUID.
    package static var schema: ValueSchema { .string(format: "uuid") }
}

extension UUID: JSONConvertible {
    /// In lower case.
    package var json: JSONValue { .string(uuidString.lowercased()) }
    /// A UUID.
    package static var schema: ValueSchema { .string(format: "uuid") }
}

extension Optional: JSONConvertible where Wrapped: JSONConvertible {
    /// It, or null.
    package var json: JSONValue { self?.json ?? .null }
    /// It, or null.
    package static var schema: ValueSchema { .nullable(Wrapped.schema) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    /// A list.
    package var json: JSONValue { .array(map(\.json)) }
    /// A list.
    package static var schema: ValueSchema { .array(Element.schema) }
}

extension JSONValue: JSONConvertible {
    /// It.
    package var json: JSONValue { self }
    /// Anything.
    package static var schema: ValueSchema { .any([]) }
}
