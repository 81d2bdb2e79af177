import Base

extension JSONValue {
    /// An object of the members that have a value, in the order of their names.
    static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.sorted { $0.key < $1.key }.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// A list of texts.
    static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}
