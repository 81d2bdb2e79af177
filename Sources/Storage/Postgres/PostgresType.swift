/// A PostgreSQL type by its object identifier. The numbers are those of `pg_type.dat`, fixed for built-in types.
public struct PostgresType: RawRepresentable, Hashable, Sendable {
    /// The type's object identifier.
    public let rawValue: UInt32

    /// Names a type by its object identifier.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// `boolean`.
    public static let bool = PostgresType(rawValue: 16)
    /// `bytea`.
    public static let bytea = PostgresType(rawValue: 17)
    /// `name`, what catalogues call identifiers.
    public static let name = PostgresType(rawValue: 19)
    /// `bigint`.
    public static let int8 = PostgresType(rawValue: 20)
    /// `smallint`.
    public static let int2 = PostgresType(rawValue: 21)
    /// `integer`.
    public static let int4 = PostgresType(rawValue: 23)
    /// `text`.
    public static let text = PostgresType(rawValue: 25)
    /// `json`.
    public static let json = PostgresType(rawValue: 114)
    /// `real`.
    public static let float4 = PostgresType(rawValue: 700)
    /// `double precision`.
    public static let float8 = PostgresType(rawValue: 701)
    /// `character(n)`.
    public static let bpchar = PostgresType(rawValue: 1042)
    /// `character varying`.
    public static let varchar = PostgresType(rawValue: 1043)
    /// `timestamp with time zone`.
    public static let timestamptz = PostgresType(rawValue: 1184)
    /// `uuid`.
    public static let uuid = PostgresType(rawValue: 2950)
    /// `jsonb`.
    public static let jsonb = PostgresType(rawValue: 3802)

    /// `boolean[]`.
    public static let boolArray = PostgresType(rawValue: 1000)
    /// `bytea[]`.
    public static let byteaArray = PostgresType(rawValue: 1001)
    /// `smallint[]`.
    public static let int2Array = PostgresType(rawValue: 1005)
    /// `integer[]`.
    public static let int4Array = PostgresType(rawValue: 1007)
    /// `text[]`.
    public static let textArray = PostgresType(rawValue: 1009)
    /// `bigint[]`.
    public static let int8Array = PostgresType(rawValue: 1016)
    /// `double precision[]`.
    public static let float8Array = PostgresType(rawValue: 1022)
    /// `json[]`.
    public static let jsonArray = PostgresType(rawValue: 199)
    /// `timestamp with time zone[]`.
    public static let timestamptzArray = PostgresType(rawValue: 1185)
    /// `uuid[]`.
    public static let uuidArray = PostgresType(rawValue: 2951)
}

extension PostgresType: CustomStringConvertible {
    /// The type's name if it is known here, otherwise `type <number>`.
    public var description: String {
        Self.names[self] ?? "type \(rawValue)"
    }

    private static let names: [PostgresType: String] = [
        .bool: "boolean", .bytea: "bytea", .name: "name", .int8: "bigint", .int2: "smallint", .int4: "integer",
        .text: "text", .json: "json", .float4: "real", .float8: "double precision", .bpchar: "character",
        .varchar: "character varying", .timestamptz: "timestamptz", .uuid: "uuid", .jsonb: "jsonb",
        .boolArray: "boolean[]", .byteaArray: "bytea[]", .int2Array: "smallint[]", .int4Array: "integer[]",
        .textArray: "text[]", .int8Array: "bigint[]", .float8Array: "double precision[]", .jsonArray: "json[]",
        .timestamptzArray: "timestamptz[]", .uuidArray: "uuid[]",
        // Not supported, but met often enough that an error should name them.
        PostgresType(rawValue: 705): "unknown", PostgresType(rawValue: 1082): "date",
        PostgresType(rawValue: 1114): "timestamp without time zone", PostgresType(rawValue: 1186): "interval",
        PostgresType(rawValue: 1700): "numeric", PostgresType(rawValue: 2278): "void",
    ]
}
