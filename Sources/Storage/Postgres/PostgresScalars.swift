#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Bool: PostgresScalar {
    /// `boolean`.
    public static var postgresType: PostgresType { .bool }
    /// `boolean[]`.
    public static var postgresArrayType: PostgresType { .boolArray }

    /// One byte, 1 or 0.
    public func encode(into buffer: inout [UInt8]) {
        buffer.append(self ? 1 : 0)
    }

    /// Reads a `boolean`.
    public static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> Bool {
        guard type == .bool, let byte = bytes.wholeInteger(UInt8.self) else {
            throw PostgresValueError(wanted: "Bool", got: "\(type)")
        }
        return byte != 0
    }
}

extension Int16: PostgresScalar {
    /// `smallint`.
    public static var postgresType: PostgresType { .int2 }
    /// `smallint[]`.
    public static var postgresArrayType: PostgresType { .int2Array }
}

extension Int32: PostgresScalar {
    /// `integer`.
    public static var postgresType: PostgresType { .int4 }
    /// `integer[]`.
    public static var postgresArrayType: PostgresType { .int4Array }
}

extension Int64: PostgresScalar {
    /// `bigint`.
    public static var postgresType: PostgresType { .int8 }
    /// `bigint[]`.
    public static var postgresArrayType: PostgresType { .int8Array }
}

/// `Int` is `bigint`, the width it has on every platform that this runs on.
extension Int: PostgresScalar {
    /// `bigint`.
    public static var postgresType: PostgresType { .int8 }
    /// `bigint[]`.
    public static var postgresArrayType: PostgresType { .int8Array }

    /// Eight bytes, whatever the platform's own width.
    public func encode(into buffer: inout [UInt8]) {
        Int64(self).encode(into: &buffer)
    }
}

extension PostgresScalar where Self: FixedWidthInteger {
    /// The integer, most significant byte first.
    public func encode(into buffer: inout [UInt8]) {
        buffer.append(bigEndian: self)
    }

    /// Reads a `smallint`, `integer` or `bigint` that is no wider than this type: never one that might not fit.
    public static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> Self {
        let value: Self?
        switch type {
        case .int2: value = bytes.wholeInteger(Int16.self).flatMap { Self(exactly: $0) }
        case .int4 where bitWidth >= 32: value = bytes.wholeInteger(Int32.self).flatMap { Self(exactly: $0) }
        case .int8 where bitWidth >= 64: value = bytes.wholeInteger(Int64.self).flatMap { Self(exactly: $0) }
        default: value = nil
        }
        guard let value else { throw PostgresValueError(wanted: "\(Self.self)", got: "\(type)") }
        return value
    }
}

extension Double: PostgresScalar {
    /// `double precision`.
    public static var postgresType: PostgresType { .float8 }
    /// `double precision[]`.
    public static var postgresArrayType: PostgresType { .float8Array }

    /// The bits of IEEE 754.
    public func encode(into buffer: inout [UInt8]) {
        buffer.append(bigEndian: bitPattern)
    }

    /// Reads a `double precision` or a `real`.
    public static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> Double {
        if type == .float8, let bits = bytes.wholeInteger(UInt64.self) { return Double(bitPattern: bits) }
        if type == .float4, let bits = bytes.wholeInteger(UInt32.self) { return Double(Float(bitPattern: bits)) }
        throw PostgresValueError(wanted: "Double", got: "\(type)")
    }
}

extension String: PostgresScalar {
    /// `text`.
    public static var postgresType: PostgresType { .text }
    /// `text[]`.
    public static var postgresArrayType: PostgresType { .textArray }

    /// The UTF-8 of the string. PostgreSQL refuses U+0000 in text (SQLSTATE 22021); the caller must take care of that.
    public func encode(into buffer: inout [UInt8]) {
        // Nearly all strings have contiguous storage, which can be copied at once.
        if utf8.withContiguousStorageIfAvailable({ buffer.append(contentsOf: $0) }) == nil {
            buffer.append(contentsOf: utf8)
        }
    }

    /// Reads any of the text types, or JSON as its text.
    public static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> String {
        switch type {
        case .text, .varchar, .bpchar, .name, .json: bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        case .jsonb: try PostgresJSON.decode(bytes, type: type).text
        default: throw PostgresValueError(wanted: "String", got: "\(type)")
        }
    }
}

extension UUID: PostgresScalar {
    /// `uuid`.
    public static var postgresType: PostgresType { .uuid }
    /// `uuid[]`.
    public static var postgresArrayType: PostgresType { .uuidArray }

    /// The sixteen bytes.
    public func encode(into buffer: inout [UInt8]) {
        withUnsafeBytes(of: uuid) { buffer.append(contentsOf: $0) }
    }

    /// Reads a `uuid`.
    public static func decode(_ bytes: RawSpan, type: PostgresType) throws(PostgresValueError) -> UUID {
        guard type == .uuid, bytes.byteCount == 16 else {
            throw PostgresValueError(wanted: "UUID", got: "\(type)")
        }
        return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
