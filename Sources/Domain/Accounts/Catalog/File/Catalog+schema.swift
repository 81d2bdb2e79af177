extension Catalog {
    /// The JSON Schema (draft 7) of a catalog's file, for editors. It is made of the list of members that reading
    /// uses. ``check(yaml:)`` finds what a schema cannot express, for instance that a product's tier exists.
    public static func schema() throws -> String {
        try CatalogObject.catalog.schema
            .adding("$schema", "http://json-schema.org/draft-07/schema#")
            .adding("title", "storehook catalog")
            .text()
    }
}

extension CatalogForm {
    /// Its part of the schema for editors.
    var schema: SchemaValue {
        switch self {
        case .scalar(let scalar): scalar.schema
        case .localized(let longest):
            [
                "oneOf": [
                    CatalogScalar.text(longest: longest).schema,
                    [
                        "type": "object", "minProperties": 1,
                        "additionalProperties": CatalogScalar.text(longest: longest).schema,
                    ],
                ]
            ]
        case .list(let form, let range):
            [
                "type": "array", "items": form.schema, "minItems": .number(range.lowerBound),
                "maxItems": .number(range.upperBound),
            ]
        case .map(let scalar, let range):
            [
                "type": "object", "propertyNames": CatalogScalar.word(.id).schema,
                "additionalProperties": scalar.schema, "minProperties": .number(range.lowerBound),
                "maxProperties": .number(range.upperBound),
            ]
        case .object(let object): object.schema
        case .word(let word, let object): ["oneOf": [CatalogScalar.choice([word]).schema, object.schema]]
        }
    }
}

extension CatalogObject {
    /// Its part of the schema for editors.
    var schema: SchemaValue {
        let properties = members.map { ($0.name, $0.form.schema.adding("description", .text($0.says))) }
        return [
            "type": "object", "additionalProperties": false,
            "properties": .object(Dictionary(properties) { _, last in last }),
            "required": .list(members.filter { $0.needed != nil }.map { .text($0.name) }),
        ]
    }
}
