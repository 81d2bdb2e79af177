// The binary form of an array (array_send in PostgreSQL's arrayfuncs.c): dimensions, a flag for NULLs, the element's
// type, then for each dimension its size and lower bound, then each element's length (-1 for NULL) and bytes.

extension Array: PostgresEncodable where Element: PostgresArrayElement {
    /// The element's array type; for bytes, `bytea`.
    public static var postgresType: PostgresType { Element.postgresArrayType }

    /// Appends the array's binary form.
    public func encode(into buffer: inout [UInt8]) {
        Element.encodeArray(self, into: &buffer)
    }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
    /// Reads an array of at most one dimension.
    public static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> [Element] {
        try Element.decodeArray(bytes, type: type)
    }
}

extension PostgresScalar {
    /// Appends a one-dimensional array without NULLs.
    public static func encodeArray(_ elements: [Self], into buffer: inout [UInt8]) {
        ArrayForm.encode(elements, into: &buffer)
    }

    /// Appends a one-dimensional array in which elements may be NULL.
    public static func encodeArray(_ elements: [Self?], into buffer: inout [UInt8]) {
        ArrayForm.encode(elements, into: &buffer)
    }

    /// Reads a one-dimensional array; a NULL in it is an error.
    public static func decodeArray(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> [Self] {
        try ArrayForm.decode(bytes)
    }

    /// Reads a one-dimensional array in which elements may be NULL.
    public static func decodeArrayWithNulls(_ bytes: RawSpan) throws(PostgresValueError) -> [Self?] {
        try ArrayForm.decode(bytes)
    }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresScalar {
    /// The wrapped element's array type: any array may hold NULLs.
    public static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }

    /// Appends a one-dimensional array in which elements may be NULL.
    public static func encodeArray(_ elements: [Wrapped?], into buffer: inout [UInt8]) {
        // The wrapped type's own implementation, which is specialized; here the type is known only at run time.
        Wrapped.encodeArray(elements, into: &buffer)
    }

    /// Reads a one-dimensional array in which elements may be NULL.
    public static func decodeArray(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> [Wrapped?] {
        try Wrapped.decodeArrayWithNulls(bytes)
    }
}

/// An array of bytes is one value, `bytea`.
extension UInt8: PostgresArrayElement {
    /// Bytes together are `bytea`.
    public static var postgresArrayType: PostgresType { .bytea }

    /// Appends the bytes as they are.
    public static func encodeArray(_ elements: [UInt8], into buffer: inout [UInt8]) {
        buffer.append(contentsOf: elements)
    }

    /// Copies the bytes of a `bytea`.
    public static func decodeArray(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> [UInt8] {
        guard type == .bytea else { throw PostgresValueError(wanted: "[UInt8]", got: "\(type)") }
        return bytes.withUnsafeBytes { [UInt8]($0) }
    }
}

extension Array: PostgresArrayElement, PostgresScalar where Element == UInt8 {
    /// Many arrays of bytes are `bytea[]`.
    public static var postgresArrayType: PostgresType { .byteaArray }
}

/// The form itself, for elements that may be NULL and those that may not.
enum ArrayForm {
    static func encode<Element: PostgresEncodable>(_ elements: [Element], into buffer: inout [UInt8]) {
        let flagOffset = buffer.count + 4
        begin(elements.count, of: Element.postgresType, hasNulls: false, into: &buffer)
        var hasNulls = false
        for element in elements {
            if element.isNull {
                hasNulls = true
                buffer.append(bigEndian: Int32(-1))
            } else {
                let lengthOffset = buffer.count
                buffer.append(bigEndian: Int32(0))
                element.encode(into: &buffer)
                buffer.overwrite(at: lengthOffset, bigEndian: Int32(clamping: buffer.count - lengthOffset - 4))
            }
        }
        if hasNulls { buffer.overwrite(at: flagOffset, bigEndian: 1) }
    }

    /// The header before the elements.
    static func begin(_ count: Int, of type: PostgresType, hasNulls: Bool, into buffer: inout [UInt8]) {
        buffer.append(bigEndian: Int32(count == 0 ? 0 : 1))
        buffer.append(bigEndian: Int32(hasNulls ? 1 : 0))
        buffer.append(bigEndian: type.rawValue)
        guard count > 0 else { return }
        buffer.append(bigEndian: Int32(clamping: count))
        buffer.append(bigEndian: Int32(1))
    }

    static func decode<Element: PostgresDecodable>(_ bytes: RawSpan) throws(PostgresValueError) -> [Element] {
        guard let dimensions = bytes.integer(at: 0, Int32.self), let element = bytes.integer(at: 8, UInt32.self) else {
            throw malformed(Element.self)
        }
        if dimensions == 0 { return [] }
        guard dimensions == 1 else {
            throw PostgresValueError(wanted: "[\(Element.self)]", got: "an array of \(dimensions) dimensions")
        }
        // Each element has at least its length of four bytes, so a count cannot ask for more memory than was received.
        guard let count = bytes.integer(at: 12, Int32.self), count >= 0, Int(count) <= bytes.byteCount / 4 else {
            throw malformed(Element.self)
        }
        let type = PostgresType(rawValue: element)
        var elements: [Element] = []
        elements.reserveCapacity(Int(count))
        var offset = 20
        for _ in 0..<count {
            guard let length = bytes.integer(at: offset, Int32.self) else { throw malformed(Element.self) }
            offset += 4
            if length < 0 {
                elements.append(try Element.decodeNull(type: type))
                continue
            }
            guard Int(length) <= bytes.byteCount - offset else { throw malformed(Element.self) }
            elements.append(try Element.decode(bytes.extracting(offset..<offset + Int(length)), type: type))
            offset += Int(length)
        }
        return elements
    }

    /// Made only where it is thrown: a type's name costs more than reading an array.
    private static func malformed<Element>(_: Element.Type) -> PostgresValueError {
        PostgresValueError(wanted: "[\(Element.self)]", got: "something that is not an array")
    }
}
