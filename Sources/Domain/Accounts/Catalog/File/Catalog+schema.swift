import Base

extension Catalog {
    /// The JSON Schema (draft 7) of a catalog's file, for editors. It is made of the list of members that reading
    /// uses. ``check(yaml:)`` finds what a schema cannot express, for instance that a product's tier exists.
    public static func schema() throws -> String {
        ValueSchema.strict(.catalog).jsonSchema(.editor)
            .adding("$schema", "http://json-schema.org/draft-07/schema#")
            .adding("title", "storehook catalog")
            .sorted.indented
    }
}
