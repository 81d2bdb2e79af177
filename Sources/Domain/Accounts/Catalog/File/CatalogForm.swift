/// The permitted form of a node of a catalog's file. The file is checked by it, and the schema for editors
/// is made of it.
indirect enum CatalogForm: Sendable, Hashable {
    /// A single value.
    case scalar(CatalogScalar)
    /// A text, or one for each of several languages.
    case localized(longest: Int)
    /// A list of values or objects.
    case list(of: CatalogForm, ClosedRange<Int>)
    /// Values by names, which are ids.
    case map(of: CatalogScalar, ClosedRange<Int>)
    /// An object with members.
    case object(CatalogObject)
    /// A word, or an object with members.
    case word(String, or: CatalogObject)

    /// A word of certain characters.
    static func word(_ word: CatalogWord) -> CatalogForm { .scalar(.word(word)) }
    /// An id.
    static let id = CatalogForm.word(.id)
}

/// An object of a catalog's file, with all members that it may have.
struct CatalogObject: Sendable, Hashable {
    /// Its name in findings, like `a product`.
    let what: String
    /// Its members, in the order in which people write them.
    let members: [CatalogMember]

    /// The names of its members.
    var names: [String] { members.map(\.name) }
}

/// A member of an object of a catalog's file.
struct CatalogMember: Sendable, Hashable {
    /// Its name.
    let name: String
    /// Its permitted form.
    let form: CatalogForm
    /// What to write, if it is required; otherwise nil.
    let needed: String?
    /// Its description, for the authors of files.
    let says: String

    /// A member.
    init(_ name: String, _ form: CatalogForm, needed: String? = nil, _ says: String) {
        self.name = name
        self.form = form
        self.needed = needed
        self.says = says
    }
}
