/// An answer's members in their order, each with its name, its schema and the source of its value; and, for people,
/// the columns of a table. Each surface has a shape of its own over one view, so that it keeps its names. A value may
/// depend on the reader, for instance on a language. `/openapi.json` and the answers are both made of it, so that they
/// cannot differ.
package struct Shape<Subject: Sendable, Reader: Sendable>: Sendable {
    /// A member, a column, or both.
    package struct Field: Sendable {
        fileprivate typealias Value = @Sendable (Subject, Reader) -> JSONValue

        fileprivate struct Column: Sendable {
            var heading: String
            var isNumeric: Bool
            var cell: @Sendable (Subject, Reader) -> String?
        }

        fileprivate var member: (property: ValueSchema.Property, value: Value)?
        /// The list whose first element is its value.
        fileprivate var list: String?
        fileprivate var column: Column?

        fileprivate init(_ property: ValueSchema.Property, column: String? = nil, _ value: @escaping Value) {
            member = (property, value)
            self.column = column.map { heading in
                Column(heading: heading, isNumeric: property.schema.isNumber) { value($0, $1).cell }
            }
        }

        /// A member whose type gives its schema.
        package init<Value: JSONConvertible>(_ name: String, _ value: @escaping @Sendable (Subject) -> Value) {
            self.init(.required(name, Value.schema)) { subject, _ in value(subject).json }
        }

        /// Likewise, with a sentence about it.
        package init<Value: JSONConvertible>(
            _ name: String, _ about: String, _ value: @escaping @Sendable (Subject) -> Value
        ) {
            self.init(.required(name, Value.schema, about)) { subject, _ in value(subject).json }
        }

        /// Likewise, and a column as well: numbers are right-aligned, null is `-`.
        package init<Value: JSONConvertible>(
            _ name: String, column: String, _ value: @escaping @Sendable (Subject) -> Value
        ) {
            self.init(.required(name, Value.schema), column: column) { subject, _ in value(subject).json }
        }

        /// A member with a schema of its own, equal for every reader.
        package init(
            _ name: String, _ schema: ValueSchema, _ about: String? = nil,
            _ value: @escaping @Sendable (Subject) -> JSONValue
        ) {
            self.init(.required(name, schema, about)) { subject, _ in value(subject) }
        }

        /// A member that depends on the reader.
        package static func read<Value: JSONConvertible>(
            _ name: String, _ about: String? = nil, _ value: @escaping @Sendable (Subject, Reader) -> Value
        ) -> Field {
            Field(.required(name, Value.schema, about)) { value($0, $1).json }
        }

        /// A member that depends on the reader, with a schema of its own.
        package static func read(
            _ name: String, _ schema: ValueSchema, _ about: String? = nil,
            _ value: @escaping @Sendable (Subject, Reader) -> JSONValue
        ) -> Field {
            Field(.required(name, schema, about), value)
        }

        /// A member that has a shape of its own.
        package static func nested<Part>(
            _ name: String, _ shape: Shape<Part, Reader>, about: String? = nil,
            _ part: @escaping @Sendable (Subject) -> Part
        ) -> Field {
            Field(.required(name, shape.schema, about)) { shape.value(of: part($0), for: $1) }
        }

        /// A member that has a shape of its own, or is null.
        package static func nullable<Part>(
            _ name: String, _ shape: Shape<Part, Reader>, about: String? = nil,
            _ part: @escaping @Sendable (Subject) -> Part?
        ) -> Field {
            Field(.required(name, .nullable(shape.schema), about)) { subject, reader in
                part(subject).map { shape.value(of: $0, for: reader) } ?? .null
            }
        }

        /// A list whose elements have a shape.
        package static func list<Part>(
            _ name: String, _ shape: Shape<Part, Reader>, about: String? = nil,
            _ parts: @escaping @Sendable (Subject) -> [Part]
        ) -> Field {
            Field(.required(name, .array(shape.schema), about)) { subject, reader in
                .array(parts(subject).map { shape.value(of: $0, for: reader) })
            }
        }

        /// A member that is the first element of a list of the same shape; null where that is empty. The element is made once for both.
        package static func first<Part>(
            _ name: String, of list: String, _ shape: Shape<Part, Reader>, about: String? = nil
        ) -> Field {
            var field = Field(.required(name, .nullable(shape.schema), about)) { _, _ in .null }
            field.list = list
            return field
        }

        /// A column only: `-` for nil.
        /// - Parameter isNumeric: whether it is right-aligned.
        package static func column(
            _ heading: String, isNumeric: Bool = false, _ cell: @escaping @Sendable (Subject) -> String?
        ) -> Field {
            var field = Field()
            field.column = Column(heading: heading, isNumeric: isNumeric) { subject, _ in cell(subject) }
            return field
        }

        private init() {}

        fileprivate func part<Whole: Sendable>(
            _ part: @escaping @Sendable (Whole) -> Subject
        ) -> Shape<Whole, Reader>.Field? {
            member.map { property, value in
                var field = Shape<Whole, Reader>.Field(property) { whole, reader in value(part(whole), reader) }
                field.list = list
                return field
            }
        }
    }

    private let name: String?
    private let omitsNull: Bool
    private let fields: [Field]
    /// What an answer needs of the fields. Their schemas stay out of it: all threads would count references to the same ones.
    private let members: [(name: String, value: Field.Value)]
    /// The places of members that are the first element of a list, and of these lists.
    private let firsts: [(place: Int, list: Int)]

    /// A shape.
    /// - Parameters:
    ///   - name: its name in `/openapi.json`; nil where it has none.
    ///   - omitsNull: whether members that are null are left out.
    package init(_ name: String? = nil, omitsNull: Bool = false, _ fields: [Field]) {
        self.name = name
        self.omitsNull = omitsNull
        self.fields = fields
        let written = fields.filter { $0.member != nil }
        members = written.compactMap { field in field.member.map { ($0.property.name, $0.value) } }
        firsts = written.enumerated().compactMap { place, field in
            guard let name = field.list else { return nil }
            guard !omitsNull, let list = written.firstIndex(where: { $0.member?.property.name == name }) else {
                preconditionFailure("\(name) is no list beside the member that is its first element")
            }
            return (place, list)
        }
    }

    /// A shape with these members after others.
    package func after<Whole: Sendable>(
        _ first: [Shape<Whole, Reader>.Field], named name: String? = nil,
        _ part: @escaping @Sendable (Whole) -> Subject
    ) -> Shape<Whole, Reader> {
        Shape<Whole, Reader>(name, omitsNull: omitsNull, first + fields.compactMap { $0.part(part) })
    }

    /// The shape of another dialect: some members with a schema or a value of their own, in their places, and more at the end. What was
    /// said about a member holds where nothing else is said about it.
    /// - Parameter others: each replaces the member of the same name.
    package func changed(named name: String, replacing others: [Field] = [], adding more: [Field] = []) -> Shape {
        var all = fields
        for var other in others {
            guard let place = all.firstIndex(where: { $0.member?.property.name == other.member?.property.name }) else {
                preconditionFailure("\(name) replaces a member that is not there")
            }
            if other.member?.property.about == nil { other.member?.property.about = all[place].member?.property.about }
            all[place] = other
        }
        return Shape(name, omitsNull: omitsNull, all + more)
    }

    /// Its schema in `/openapi.json`.
    package var schema: ValueSchema {
        let object = ValueSchema.object(fields.compactMap(\.member?.property))
        return name.map { .named($0, object) } ?? object
    }

    /// The members.
    package func value(of subject: Subject, for reader: Reader) -> JSONValue {
        var written: [JSONValue.Member] = []
        written.reserveCapacity(members.count)
        for member in members {
            let value = member.value(subject, reader)
            if !omitsNull || value != .null { written.append(.init(member.name, value)) }
        }
        for first in firsts {
            if case .array(let elements) = written[first.list].value, let element = elements.first {
                written[first.place].value = element
            }
        }
        return .object(written)
    }

    /// What its members are called, in their order.
    package var memberNames: [String] { members.map(\.name) }

    /// The columns, with a line for each subject.
    package func table(of subjects: [Subject], for reader: Reader) -> String {
        let columns = fields.compactMap(\.column)
        var table = Table(
            columns.map(\.heading), numeric: Set(columns.indices.filter { columns[$0].isNumeric }))
        for subject in subjects { table.add(columns.map { $0.cell(subject, reader) ?? "-" }) }
        return table.text
    }
}

/// The answer of a command: names in snake case, null members left out, no reader.
package typealias CommandShape<Subject: Sendable> = Shape<Subject, Void>

extension Shape where Reader == Void {
    /// A shape of a command's answer.
    package init(_ fields: [Field]) { self.init(nil, omitsNull: true, fields) }

    /// The members.
    package func value(of subject: Subject) -> JSONValue { value(of: subject, for: ()) }

    /// A list.
    package func values(of subjects: [Subject]) -> JSONValue { .array(subjects.map { value(of: $0) }) }

    /// The columns, with a line for each subject.
    package func table(of subjects: [Subject]) -> String { table(of: subjects, for: ()) }
}

extension ValueSchema {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer: true
        case .nullable(let schema): schema.isNumber
        default: false
        }
    }
}
