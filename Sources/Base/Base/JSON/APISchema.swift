/// What a JSON value looks like: what `/openapi.json` says of it, and, of what is sent to us, what is checked before a handler
/// sees it. Both come from here, so that they cannot say different things.
package indirect enum APISchema: Sendable, Hashable {
    /// A text of so many characters (Unicode scalars); of these formats, as OpenAPI calls them.
    case string(Lengths = Lengths(), format: String? = nil)
    /// One of some texts.
    case choice([String])
    /// A whole number within these.
    case integer(ClosedRange<Int64>? = nil)
    /// `true` or `false`.
    case boolean
    /// A list of at most so many.
    case array(APISchema, most: Int? = nil)
    /// An object. Members that are not named may be there, and are passed over.
    case object([Property])
    /// An object whose members' names are not known before, such as features by their ids.
    case map(APISchema)
    /// This, or null.
    case nullable(APISchema)
    /// Any of these. Never checked: for what is answered.
    case any([APISchema])
    /// One that has a name in `components/schemas`.
    case named(String, APISchema)
    /// An object some of whose members depend on others.
    case ruled(APISchema, [Rule])

    /// What holds between the members of an object.
    package enum Rule: Sendable, Hashable {
        /// No two of these are there.
        case atMostOne([String])
        /// Where the one is true, the other, a text, is there and is not blank.
        case text(String, whereTrue: String)
    }

    /// How long a text may be.
    package struct Lengths: Sendable, Hashable {
        /// At least.
        package var least: Int
        /// At most; nil: the body's own limit.
        package var most: Int?

        /// Any length unless told.
        package init(_ least: Int = 0, _ most: Int? = nil) {
            self.least = least
            self.most = most
        }
    }

    /// A member of an object.
    package struct Property: Sendable, Hashable {
        /// Its name.
        package var name: String
        /// What it is.
        package var schema: APISchema
        /// Whether it has to be there.
        package var isRequired: Bool
        /// A sentence about it.
        package var about: String?

        /// One that has to be there.
        package static func required(_ name: String, _ schema: APISchema, _ about: String? = nil) -> Property {
            Property(name: name, schema: schema, isRequired: true, about: about)
        }

        /// One that may be missing, or null in what is sent to us.
        package static func optional(_ name: String, _ schema: APISchema, _ about: String? = nil) -> Property {
            Property(name: name, schema: schema, isRequired: false, about: about)
        }
    }

    /// An instant as RFC 3339 has it.
    package static let time = APISchema.string(format: "date-time")
    /// A text of any length.
    package static let text = APISchema.string()
}
