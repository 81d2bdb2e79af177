extension APISchema {
    /// As OpenAPI 3.1 writes it, named ones by reference.
    var openAPI: APIValue {
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
            let required = properties.filter(\.isRequired).map { APIValue.string($0.name) }
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
        }
    }

    /// All that have names, within this one and within each other.
    var named: [String: APISchema] {
        switch self {
        case .string, .choice, .integer, .boolean: [:]
        case .array(let schema, _), .map(let schema), .nullable(let schema): schema.named
        case .object(let properties):
            properties.reduce(into: [:]) { $0.merge($1.schema.named) { first, _ in first } }
        case .any(let schemas): schemas.reduce(into: [:]) { $0.merge($1.named) { first, _ in first } }
        case .named(let name, let schema): schema.named.merging([name: schema]) { first, _ in first }
        }
    }

    private static func typed(_ type: String, _ members: [APIValue.Member?]) -> APIValue {
        .object([APIValue.Member("type", .string(type))] + members.compactMap(\.self))
    }
}

extension APISchema.Property {
    fileprivate var openAPI: APIValue {
        guard let about else { return schema.openAPI }
        guard case .object(let members) = schema.openAPI else { return schema.openAPI }
        return .object(members + [APIValue.Member("description", .string(about))])
    }
}
