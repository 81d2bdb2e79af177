/// What a value looks like, described once: a value in JSON or YAML is checked by it, and the JSON schema that is published is made of
/// it. An API's bodies, parameters and answers are described so, and what operators write.
package indirect enum ValueSchema: Sendable, Hashable {
    /// A text of so many characters (Unicode scalars), in this format of OpenAPI's.
    case string(Lengths = Lengths(), format: String? = nil)
    /// A text with a grammar of its own.
    case word(SchemaWord)
    /// One of some texts.
    case choice([String])
    /// A whole number within these.
    case integer(ClosedRange<Int64>? = nil)
    /// `true` or `false`.
    case boolean
    /// A list of so many.
    case array(ValueSchema, least: Int? = nil, most: Int? = nil)
    /// An object. Unknown members may be present, and are ignored.
    case object([Property])
    /// An object without unknown members.
    case strict(StrictObject)
    /// An object whose members' names are not fixed, such as features by their ids: names of this kind, and so many.
    case map(ValueSchema, keys: SchemaWord? = nil, ClosedRange<Int>? = nil)
    /// A text of at most so many characters, or an object with one for each of several languages, by their tags.
    case localized(Int, tags: SchemaWord)
    /// This word, or an object.
    case either(String, StrictObject)
    /// This, or null.
    case nullable(ValueSchema)
    /// Any of these. Only for answers: it is never checked.
    case any([ValueSchema])
    /// A schema with a name in `components/schemas`.
    case named(String, ValueSchema)
    /// An object some of whose members depend on others.
    case ruled(ValueSchema, [Rule])

    /// A rule between the members of an object.
    package enum Rule: Sendable, Hashable {
        /// At most one of these is present.
        case atMostOne([String])
        /// At least one of these is present.
        case atLeastOne([String])
        /// Where the second is true, the first, a text, is present and not blank.
        case text(String, whereTrue: String)
        /// Where the first, a text, is this one, the object fits this schema, too.
        case also(ValueSchema, where: String, is: String)
    }

    /// The permitted lengths of a text.
    package struct Lengths: Sendable, Hashable {
        /// At least.
        package var least: Int
        /// At most; nil: the body's own limit.
        package var most: Int?

        /// By default any length.
        package init(_ least: Int = 0, _ most: Int? = nil) {
            self.least = least
            self.most = most
        }
    }

    /// A member of an object.
    package struct Property: Sendable, Hashable {
        /// Its name.
        package var name: String
        /// Its schema.
        package var schema: ValueSchema
        /// Whether it must be present.
        package var isRequired: Bool
        /// A sentence about it.
        package var about: String?
        /// What to write where it is missing, for what operators write.
        package var example: String?

        /// One of an object that operators write.
        /// - Parameter example: what to write where it is missing; nil where it may be.
        package init(_ name: String, _ schema: ValueSchema, needed example: String? = nil, _ about: String) {
            self.init(name: name, schema: schema, isRequired: example != nil, about: about, example: example)
        }

        private init(name: String, schema: ValueSchema, isRequired: Bool, about: String?, example: String? = nil) {
            self.name = name
            self.schema = schema
            self.isRequired = isRequired
            self.about = about
            self.example = example
        }

        /// A member that must be present.
        package static func required(_ name: String, _ schema: ValueSchema, _ about: String? = nil) -> Property {
            Property(name: name, schema: schema, isRequired: true, about: about)
        }

        /// A member that may be missing, or null in requests.
        package static func optional(_ name: String, _ schema: ValueSchema, _ about: String? = nil) -> Property {
            Property(name: name, schema: schema, isRequired: false, about: about)
        }
    }

    /// An instant as RFC 3339 has it.
    package static let time = ValueSchema.string(format: "date-time")
    /// A text of any length.
    package static let text = ValueSchema.string()
}
