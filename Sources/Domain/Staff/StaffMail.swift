/// An e-mail address that names a member of the staff.
package struct StaffMail: Sendable, Hashable {
    /// The address.
    package let text: String

    /// Reads an address; nil for what is none: one @ with something on either side, no blanks, at most 254 characters.
    package init?(_ text: String) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), text.unicodeScalars.count <= 254,
            !text.contains(where: \.isWhitespace),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { return nil }
        self.text = text
    }
}
