import Base

/// JSON as a receiver has it, to be held against what is published.
indirect enum SentValue: Decodable {
    case null, flag(Bool), number(Int64), text(String)
    case object([String: SentValue])

    init(from decoder: any Decoder) throws {
        if let object = try? [String: SentValue](from: decoder) {
            self = .object(object)
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Int64.self) {
            self = .number(number)
        } else {
            self = .text(try value.decode(String.self))
        }
    }

    /// Where it differs from a schema: wrong types, missing members, and members that the schema does not have. It is stricter than
    /// receivers are, so that nothing is written that is not published.
    func differences(from schema: ValueSchema, _ place: String = "") -> [String] {
        switch (schema, self) {
        case (.named(_, let schema), _): differences(from: schema, place)
        case (.nullable, .null), (.boolean, .flag), (.integer, .number): []
        case (.nullable(let schema), _): differences(from: schema, place)
        case (.any(let schemas), _):
            schemas.contains { differences(from: $0, place).isEmpty } ? [] : ["\(place) fits none of \(schemas.count)"]
        case (.choice(let words), .text(let text)): words.contains(text) ? [] : ["\(place): \(text)"]
        case (.string(_, "uuid"), .text(let text)):
            UniqueIdentifier(text)?.description == text ? [] : ["\(place): \(text)"]
        case (.string(_, "date-time"), .text(let text)): Timestamp(iso8601: text) != nil ? [] : ["\(place): \(text)"]
        case (.string, .text): []
        case (.object(let members), .object(let values)):
            Set(values.keys).subtracting(members.map(\.name)).sorted().map { "\(place).\($0): not published" }
                + members.flatMap { member in
                    values[member.name]?.differences(from: member.schema, "\(place).\(member.name)")
                        ?? (member.isRequired ? ["\(place).\(member.name): missing"] : [])
                }
        default: ["\(place): \(self) is no \(schema)"]
        }
    }
}
