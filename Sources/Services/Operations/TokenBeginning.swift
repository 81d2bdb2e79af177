import Base

/// The beginning of an appAccountToken, as lists show it: eight digits, or more of its form.
enum TokenBeginning {
    /// The tokens that begin with a text of 8 to 35 characters, in either letter case; nil where none does.
    static func range(of text: String) -> ClosedRange<UniqueIdentifier>? {
        guard (8..<zeros.utf8.count).contains(text.utf8.count),
            let first = UniqueIdentifier(text + zeros.dropFirst(text.utf8.count)),
            let last = UniqueIdentifier(text + zeros.replacing("0", with: "f").dropFirst(text.utf8.count))
        else { return nil }
        return first...last
    }

    private static let zeros = "00000000-0000-0000-0000-000000000000"
}
