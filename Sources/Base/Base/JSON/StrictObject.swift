/// An object that operators write: all members that it may have.
package struct StrictObject: Sendable, Hashable {
    /// Its name in faults, like `a product`.
    package let what: String
    /// Its members, in the order in which people write them.
    package let members: [ValueSchema.Property]

    /// An object.
    package init(what: String, members: [ValueSchema.Property]) {
        self.what = what
        self.members = members
    }

    /// What to write where it is meant and something else stands: its needed members. Nil where the examples of these are no values.
    package var example: String? {
        let examples = members.compactMap(\.example)
        guard !examples.isEmpty, examples.allSatisfy({ !$0.contains(" below ") }) else { return nil }
        return "{\(examples.joined(separator: ", "))}"
    }

    /// The names of its members.
    package var names: [String] { members.map(\.name) }

    /// The schema of a member.
    package subscript(_ name: String) -> ValueSchema? { members.first { $0.name == name }?.schema }
}
