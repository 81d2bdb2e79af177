/// What an answer looks like, and what it says: the members of an object in their order, each with its schema and with where its
/// value comes from. A value may depend on the reader, such as on a language. `/openapi.json` and the answers are both made of it, so that they cannot tell different things.
package struct AnswerShape<Subject: Sendable, Reader: Sendable>: Sendable {
    /// A member.
    package struct Field: Sendable {
        let property: APISchema.Property
        let value: @Sendable (Subject, Reader) -> APIValue

        /// A member that is always there, and is the same for whoever reads it.
        package init(
            _ name: String, _ schema: APISchema, _ about: String? = nil,
            _ value: @escaping @Sendable (Subject) -> APIValue
        ) {
            property = .required(name, schema, about)
            self.value = { subject, _ in value(subject) }
        }

        /// A member that is always there, and depends on who reads it.
        package static func read(
            _ name: String, _ schema: APISchema, _ about: String? = nil,
            _ value: @escaping @Sendable (Subject, Reader) -> APIValue
        ) -> Field {
            Field(.required(name, schema, about), value)
        }

        fileprivate init(
            _ property: APISchema.Property, _ value: @escaping @Sendable (Subject, Reader) -> APIValue
        ) {
            self.property = property
            self.value = value
        }
    }

    private let name: String?
    private let fields: [Field]

    /// A shape.
    /// - Parameter name: what `/openapi.json` calls it; nil where it has no name of its own.
    package init(_ name: String? = nil, _ fields: [Field]) {
        self.name = name
        self.fields = fields
    }

    /// The same with members before these.
    package func after<Whole: Sendable>(
        _ first: [AnswerShape<Whole, Reader>.Field], named name: String? = nil,
        _ part: @escaping @Sendable (Whole) -> Subject
    ) -> AnswerShape<Whole, Reader> {
        AnswerShape<Whole, Reader>(
            name,
            first
                + fields.map { field in
                    .init(field.property) { whole, reader in field.value(part(whole), reader) }
                })
    }

    /// What `/openapi.json` says of it.
    package var schema: APISchema {
        let object = APISchema.object(fields.map(\.property))
        return name.map { .named($0, object) } ?? object
    }

    /// What is answered.
    package func value(of subject: Subject, for reader: Reader) -> APIValue {
        .object(fields.map { .init($0.property.name, $0.value(subject, reader)) })
    }
}
