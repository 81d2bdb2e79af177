extension ValueSchema {
    /// The readers that a JSON schema is written for.
    package enum Dialect: Sendable {
        /// OpenAPI 3.1: named ones by reference; a member that may be missing may be null as well, which is how many clients say that
        /// there is nothing.
        case openAPI
        /// Draft 7, for editors of what operators write.
        case editor
    }

    /// As OpenAPI 3.1 writes it.
    package var openAPI: JSONValue { jsonSchema(.openAPI) }

    /// The JSON schema of it.
    package func jsonSchema(_ dialect: Dialect) -> JSONValue {
        switch self {
        case .string(let lengths, let format):
            return Self.typed(
                "string",
                [
                    format.map { .init("format", .string($0)) },
                    lengths.least > 0 ? .init("minLength", .integer(Int64(lengths.least))) : nil,
                    lengths.most.map { .init("maxLength", .integer(Int64($0))) },
                ])
        case .word(let word): return word.schema
        case .choice(let texts):
            // Of a single word no client needs a type of its own.
            if dialect == .openAPI, texts.count == 1 {
                return Self.typed("string", [.init("const", .string(texts[0]))])
            }
            return Self.typed("string", [.init("enum", .array(texts.map { .string($0) }))])
        case .integer(let range):
            return Self.typed(
                "integer",
                [
                    dialect == .openAPI ? .init("format", "int64") : nil,
                    range.map { .init("minimum", .integer($0.lowerBound)) },
                    range.map { .init("maximum", .integer($0.upperBound)) },
                ])
        case .boolean: return Self.typed("boolean", [])
        case .array(let element, let least, let most):
            return Self.typed(
                "array",
                [
                    .init("items", element.jsonSchema(dialect)), least.map { .init("minItems", .integer(Int64($0))) },
                    most.map { .init("maxItems", .integer(Int64($0))) },
                ])
        case .object(let properties):
            let required = properties.filter(\.isRequired).map { JSONValue.string($0.name) }
            return Self.typed(
                "object",
                [
                    .init("properties", .object(properties.map { .init($0.name, $0.jsonSchema(dialect)) })),
                    required.isEmpty ? nil : .init("required", .array(required)),
                ])
        case .strict(let object):
            return ValueSchema.object(object.members).jsonSchema(dialect).adding("additionalProperties", false)
        case .map(let value, let keys, let range):
            return Self.typed(
                "object",
                [
                    keys.map { .init("propertyNames", $0.schema) },
                    .init("additionalProperties", value.jsonSchema(dialect)),
                    range.map { .init("minProperties", .integer(Int64($0.lowerBound))) },
                    range.map { .init("maxProperties", .integer(Int64($0.upperBound))) },
                ])
        case .localized(let longest, _):
            let text = ValueSchema.string(.init(1, longest)).jsonSchema(dialect)
            return ["oneOf": [text, ["type": "object", "minProperties": 1, "additionalProperties": text]]]
        case .either(let word, let object):
            return [
                "oneOf": [
                    ValueSchema.choice([word]).jsonSchema(dialect), ValueSchema.strict(object).jsonSchema(dialect),
                ]
            ]
        case .nullable(let schema): return schema.jsonSchema(dialect).orNull
        case .any(let schemas): return ["anyOf": .array(schemas.map { $0.jsonSchema(dialect) })]
        case .named(let name, _): return ["$ref": .string("#/components/schemas/\(name)")]
        case .ruled(let schema, let rules):
            return schema.jsonSchema(dialect).adding("allOf", .array(rules.map { $0.jsonSchema(dialect) }))
        }
    }

    /// All that have names, within this one and within each other.
    package var named: [String: ValueSchema] {
        switch self {
        case .string, .word, .choice, .integer, .boolean, .localized, .either: [:]
        case .strict(let object): ValueSchema.object(object.members).named
        case .array(let schema, _, _), .map(let schema, _, _), .nullable(let schema), .ruled(let schema, _):
            schema.named
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

extension JSONValue {
    /// The JSON schema of what this one describes, or null. Of a plain type it is one schema with two types, so that a program that makes
    /// a client needs no name for one of them.
    fileprivate var orNull: JSONValue {
        guard case .object(var members) = self, case .string(let type) = members.first?.value,
            members[0].name == "type",
            !members.contains(where: { ["enum", "const", "properties"].contains($0.name) })
        else { return ["oneOf": [self, ["type": "null"]]] }
        members[0].value = [.string(type), "null"]
        return .object(members)
    }
}

extension ValueSchema.Property {
    fileprivate func jsonSchema(_ dialect: ValueSchema.Dialect) -> JSONValue {
        let schema =
            dialect == .editor || isRequired || schema.isNullable ? schema : ValueSchema.nullable(schema)
        let json = schema.jsonSchema(dialect)
        return about.map { json.adding("description", .string($0)) } ?? json
    }
}

extension ValueSchema {
    fileprivate var isNullable: Bool {
        if case .nullable = self { true } else { false }
    }
}

extension ValueSchema.Rule {
    fileprivate func jsonSchema(_ dialect: ValueSchema.Dialect) -> JSONValue {
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
        case .atLeastOne(let names):
            // A condition and not a choice of schemas: client generators turn a choice into types that fit nowhere. Null counts as missing.
            return [
                "if": [
                    "properties": .object(names.dropLast().map { .init($0, ["type": "null"]) })
                ],
                "then": [
                    "required": .array(names.suffix(1).map { .string($0) }),
                    "properties": .object(names.suffix(1).map { .init($0, ["not": ["type": "null"]]) }),
                ],
            ]
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
        case .also(let schema, let condition, let text):
            return [
                "if": [
                    "required": [.string(condition)],
                    "properties": .object([.init(condition, ["const": .string(text)])]),
                ],
                "then": schema.jsonSchema(dialect),
            ]
        }
    }
}
