/// The value of an `Authorization` header.
package enum BearerText {
    /// What follows `Bearer`, which is not case-sensitive (RFC 7235, section 2.1); nil where anything else stands there.
    package static func token(in value: String) -> String? {
        guard let space = value.firstIndex(of: " "), value[..<space].lowercased() == "bearer" else { return nil }
        let token = String(value[space...].drop { $0 == " " })
        let hasSpace = token.utf8.withContiguousStorageIfAvailable { $0.contains(UInt8(ascii: " ")) }
        return token.isEmpty || hasSpace ?? token.contains(" ") ? nil : token
    }
}
