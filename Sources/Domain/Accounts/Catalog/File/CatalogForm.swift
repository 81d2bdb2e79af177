/// What may stand at a place of a catalog's file. The file is checked by it, and the schema for editors is made of it.
indirect enum CatalogForm: Sendable, Hashable {
    /// A single value.
    case scalar(CatalogScalar)
    /// A text, or one for each of several languages.
    case localized(longest: Int)
    /// A list of values or things.
    case list(of: CatalogForm, ClosedRange<Int>)
    /// Values by names, which are ids.
    case map(of: CatalogScalar, ClosedRange<Int>)
    /// A thing with members.
    case object(CatalogObject)
    /// A word, or a thing with members.
    case word(String, or: CatalogObject)

    /// A word of certain letters.
    static func word(_ word: CatalogWord) -> CatalogForm { .scalar(.word(word)) }
    /// An id.
    static let id = CatalogForm.word(.id)
}

/// A thing in a catalog's file: all members that it may have.
struct CatalogObject: Sendable, Hashable {
    /// What it is called in findings, like `a product`.
    let what: String
    /// Its members, in the order in which people write them.
    let members: [CatalogMember]

    /// The names of its members.
    var names: [String] { members.map(\.name) }
}

/// A member of a thing in a catalog's file.
struct CatalogMember: Sendable, Hashable {
    /// Its name.
    let name: String
    /// What may stand there.
    let form: CatalogForm
    /// What to write, where it has to be there; nil where it has not.
    let needed: String?
    /// What it is, for who writes the file.
    let says: String

    /// A member.
    init(_ name: String, _ form: CatalogForm, needed: String? = nil, _ says: String) {
        self.name = name
        self.form = form
        self.needed = needed
        self.says = says
    }
}
