import Base

extension APISchema {
    /// As OpenAPI 3.1 writes it, named ones by reference.
    var openAPI: JSONValue {
        switch self {
        case .string(let lengths, let format):
            return Self.typed(
                "string",
                [
                    format.map { .init("format", .string($0)) },
                    lengths.least > 0 ? .init("minLength", .integer(Int64(lengths.least))) : nil,
                    lengths.most.map { .init("maxLength", .integer(Int64($0))) },
                ])
        case .choice(let texts):
            return Self.typed("string", [.init("enum", .array(texts.map { .string($0) }))])
        case .integer(let range):
            return Self.typed(
                "integer",
                [
                    .init("format", "int64"), range.map { .init("minimum", .integer($0.lowerBound)) },
                    range.map { .init("maximum", .integer($0.upperBound)) },
                ])
        case .boolean: return Self.typed("boolean", [])
        case .array(let element, let most):
            return Self.typed(
                "array",
                [.init("items", element.openAPI), most.map { .init("maxItems", .integer(Int64($0))) }])
        case .object(let properties):
            let required = properties.filter(\.isRequired).map { JSONValue.string($0.name) }
            return Self.typed(
                "object",
                [
                    .init("properties", .object(properties.map { .init($0.name, $0.openAPI) })),
                    required.isEmpty ? nil : .init("required", .array(required)),
                ])
        case .map(let value): return Self.typed("object", [.init("additionalProperties", value.openAPI)])
        case .nullable(let schema): return ["oneOf": [schema.openAPI, ["type": "null"]]]
        case .any(let schemas): return ["anyOf": .array(schemas.map(\.openAPI))]
        case .named(let name, _): return ["$ref": .string("#/components/schemas/\(name)")]
        case .ruled(let schema, let rules):
            guard case .object(let members) = schema.openAPI else { return schema.openAPI }
            return .object(members + [.init("allOf", .array(rules.map(\.openAPI)))])
        }
    }

    /// All that have names, within this one and within each other.
    var named: [String: APISchema] {
        switch self {
        case .string, .choice, .integer, .boolean: [:]
        case .array(let schema, _), .map(let schema), .nullable(let schema), .ruled(let schema, _): schema.named
        case .object(let properties):
            properties.reduce(into: [:]) { $0.merge($1.schema.named) { first, _ in first } }
        case .any(let schemas): schemas.reduce(into: [:]) { $0.merge($1.named) { first, _ in first } }
        case .named(let name, let schema): schema.named.merging([name: schema]) { first, _ in first }
        }
    }

    private static func typed(_ type: String, _ members: [JSONValue.Member?]) -> JSONValue {
        .object([JSONValue.Member("type", .string(type))] + members.compactMap(\.self))
    }
}

extension APISchema.Property {
    fileprivate var openAPI: JSONValue {
        // What may be missing may be null: that is how many clients say that there is nothing.
        let schema = isRequired || schema.isNullable ? schema : .nullable(schema)
        guard let about, case .object(let members) = schema.openAPI else { return schema.openAPI }
        return .object(members + [JSONValue.Member("description", .string(about))])
    }
}

extension APISchema {
    fileprivate var isNullable: Bool {
        if case .nullable = self { true } else { false }
    }
}

extension APISchema.Rule {
    fileprivate var openAPI: JSONValue {
        switch self {
        case .atMostOne(let names):
            // Null counts as missing, so that it is not enough to say which names may not stand together.
            let there = names.map { name -> JSONValue in
                [
                    "required": [.string(name)],
                    "properties": .object([.init(name, ["not": ["type": "null"]])]),
                ]
            }
            let pairs = there.indices.flatMap { one in
                there.indices.filter { $0 > one }.map { other -> JSONValue in
                    ["not": ["allOf": [there[one], there[other]]]]
                }
            }
            return ["allOf": .array(pairs)]
        case .text(let name, let condition):
            return [
                "if": [
                    "required": [.string(condition)],
                    "properties": .object([.init(condition, ["const": true])]),
                ],
                "then": [
                    "required": [.string(name)],
                    "properties": .object([.init(name, ["type": "string", "pattern": "\\S"])]),
                ],
            ]
        }
    }
}
