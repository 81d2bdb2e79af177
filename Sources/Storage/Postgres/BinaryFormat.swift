/// PostgreSQL's binary format is big-endian throughout.
extension [UInt8] {
    /// Appends an integer, most significant byte first.
    mutating func append<Integer: FixedWidthInteger>(bigEndian value: Integer) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Overwrites four bytes at `offset`; the place was reserved before its content was known.
    mutating func overwrite(at offset: Int, bigEndian value: Int32) {
        Swift.withUnsafeBytes(of: value.bigEndian) { replaceSubrange(offset..<offset + 4, with: $0) }
    }
}

extension RawSpan {
    /// The integer that the whole span is, or nil if its size is another.
    func wholeInteger<Integer: FixedWidthInteger>(_: Integer.Type = Integer.self) -> Integer? {
        guard byteCount == MemoryLayout<Integer>.size else { return nil }
        return integer(at: 0)
    }

    /// The integer at `offset`, or nil if the span ends before it.
    func integer<Integer: FixedWidthInteger>(at offset: Int, _: Integer.Type = Integer.self) -> Integer? {
        guard offset >= 0, offset <= byteCount - MemoryLayout<Integer>.size else { return nil }
        return withUnsafeBytes { Integer(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: Integer.self)) }
    }
}
