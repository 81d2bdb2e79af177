/// Text that names a person: an account's id, a name, an address, a reason that staff wrote.
package enum PersonalText {
    /// Enough of it to recognize what is known already: the first two characters, where there are more than three.
    package static func shortened(_ text: String) -> String { text.count > 3 ? text.prefix(2) + "…" : "…" }
}
