/// Whether a name can stand in a statement without quotes and means itself. 63 bytes are what PostgreSQL keeps.
func isPlainIdentifier(_ name: String) -> Bool {
    let first: (UInt8) -> Bool = { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_") }
    return !name.isEmpty && name.utf8.count <= 63 && name.utf8.first.map(first) == true
        && name.utf8.allSatisfy { first($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
}
