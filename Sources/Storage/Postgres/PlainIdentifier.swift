/// Whether a name needs no quotes in a statement. PostgreSQL keeps 63 bytes.
func isPlainIdentifier(_ name: String) -> Bool {
    let first: (UInt8) -> Bool = { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") }
    return !name.isEmpty && name.utf8.count <= 63 && name.utf8.first.map(first) == true
        && name.utf8.allSatisfy { first($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
}
