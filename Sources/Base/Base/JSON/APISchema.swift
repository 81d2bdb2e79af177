/// The shape of a JSON value: `/openapi.json` shows it, and requests are checked against it before a handler sees
/// them. Both come from here, so that they cannot differ.
package indirect enum APISchema: Sendable, Hashable {
    /// A text of so many characters (Unicode scalars), in this format of OpenAPI's.
    case string(Lengths = Lengths(), format: String? = nil)
    /// One of some texts.
    case choice([String])
    /// A whole number within these.
    case integer(ClosedRange<Int64>? = nil)
    /// `true` or `false`.
    case boolean
    /// A list of at most so many.
    case array(APISchema, most: Int? = nil)
    /// An object. Unknown members may be present, and are ignored.
    case object([Property])
    /// An object whose members' names are not fixed, such as features by their ids.
    case map(APISchema)
    /// This, or null.
    case nullable(APISchema)
    /// Any of these. Only for answers: it is never checked.
    case any([APISchema])
    /// A schema with a name in `components/schemas`.
    case named(String, APISchema)
    /// An object some of whose members depend on others.
    case ruled(APISchema, [Rule])

    /// A rule between the members of an object.
    package enum Rule: Sendable, Hashable {
        /// At most one of these is present.
        case atMostOne([String])
        /// Where the second is true, the first, a text, is present and not blank.
        case text(String, whereTrue: String)
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
        package var schema: APISchema
        /// Whether it must be present.
        package var isRequired: Bool
        /// A sentence about it.
        package var about: String?

        /// A member that must be present.
        package static func required(_ name: String, _ schema: APISchema, _ about: String? = nil) -> Property {
            Property(name: name, schema: schema, isRequired: true, about: about)
        }

        /// A member that may be missing, or null in requests.
        package static func optional(_ name: String, _ schema: APISchema, _ about: String? = nil) -> Property {
            Property(name: name, schema: schema, isRequired: false, about: about)
        }
    }

    /// An instant as RFC 3339 has it.
    package static let time = APISchema.string(format: "date-time")
    /// A text of any length.
    package static let text = APISchema.string()
}
