import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Values")
struct ValueTests {
    @Test("of every type come back as they went, beside what the server itself makes of them")
    func roundTrip() async throws {
        try await withConnection { connection in
            func expect<T: PostgresEncodable & PostgresDecodable & Equatable>(
                _ value: T, as literal: String, location: SourceLocation = #_sourceLocation
            ) async throws {
                // The literal is read by the server alone, so a mistake made alike in both directions shows.
                let row = try await connection.query(
                    "select \(value), \(value) is not distinct from \(unescaped: literal)")[0]
                #expect(try row.decode(0, as: T.self) == value, sourceLocation: location)
                #expect(try row.decode(1, as: Bool.self), "\(literal)", sourceLocation: location)
            }
            try await expect(true, as: "true")
            try await expect(false, as: "false")
            try await expect(Int16.min, as: "(-32768)::int2")
            try await expect(Int32.max, as: "2147483647::int4")
            try await expect(Int64.min, as: "(-9223372036854775808)::int8")
            try await expect(Int.max, as: "9223372036854775807::int8")
            try await expect(-0.1, as: "(-0.1)::float8")
            try await expect(Double.infinity, as: "'infinity'::float8")
            try await expect("grüße 👋 'quoted' \\", as: "'grüße 👋 ''quoted'' \\'::text")
            try await expect("", as: "''::text")
            try await expect([0, 255, 39, 92] as [UInt8], as: "'\\x00ff275c'::bytea")
            try await expect([] as [UInt8], as: "''::bytea")
            let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
            try await expect(uuid, as: "'00112233-4455-6677-8899-aabbccddeeff'::uuid")
            try await expect(
                PostgresTimestamp(microsecondsSince1970: 1_700_000_000_123_456),
                as: "'2023-11-14 22:13:20.123456+00'::timestamptz")
            try await expect(
                PostgresTimestamp(microsecondsSince1970: -1), as: "'1969-12-31 23:59:59.999999+00'::timestamptz")
            try await expect(PostgresTimestamp.earliest, as: "'4714-11-24 00:00:00+00 BC'::timestamptz")
            try await expect(nil as String?, as: "null::text")
            try await expect(7 as Int?, as: "7::int8")
        }
    }

    @Test("that are JSON stay verbatim, and jsonb can be read")
    func json() async throws {
        try await withConnection { connection in
            let json = PostgresJSON("{\"b\": 1,  \"a\":[null]}")
            let row = try await connection.query("select \(json), \(json)::jsonb, \(nil as PostgresJSON?), \([json])")[
                0]
            #expect(try row.decode(0, as: PostgresJSON.self) == json)
            #expect(try row.decode(0, as: String.self) == json.text)
            #expect(try row.decode(1, as: PostgresJSON.self).text == "{\"a\": [null], \"b\": 1}")
            #expect(try row.decode(1, as: String.self) == "{\"a\": [null], \"b\": 1}")
            #expect(try row.decode(2, as: PostgresJSON?.self) == nil)
            #expect(try row.decode(3, as: [PostgresJSON].self) == [json])
        }
    }

    @Test("in arrays come back as they went: of every type, with NULLs, and none at all")
    func arrays() async throws {
        try await withConnection { connection in
            func expect<T: PostgresEncodable & PostgresDecodable & Equatable>(
                _ value: T, as literal: String, location: SourceLocation = #_sourceLocation
            ) async throws {
                let row = try await connection.query("select \(value), \(value) = \(unescaped: literal)")[0]
                #expect(try row.decode(0, as: T.self) == value, sourceLocation: location)
                #expect(try row.decode(1, as: Bool.self), "\(literal)", sourceLocation: location)
            }
            try await expect([true, false], as: "'{t,f}'::bool[]")
            try await expect([1, -2] as [Int16], as: "'{1,-2}'::int2[]")
            try await expect([1, -2] as [Int32], as: "'{1,-2}'::int4[]")
            try await expect([1, -2] as [Int64], as: "'{1,-2}'::int8[]")
            try await expect([1, -2], as: "'{1,-2}'::int8[]")
            try await expect([0.5], as: "'{0.5}'::float8[]")
            try await expect(["a,b", "", "NULL"], as: "array['a,b', '', 'NULL']::text[]")
            try await expect([[1, 2], []] as [[UInt8]], as: "array['\\x0102', '']::bytea[]")
            let uuid = UUID()
            try await expect([uuid], as: "array['\(uuid)']::uuid[]")
            try await expect([PostgresTimestamp(millisecondsSince1970: 0)], as: "array['epoch']::timestamptz[]")
            try await expect([1, nil, 3] as [Int?], as: "'{1,NULL,3}'::int8[]")
            try await expect([nil, "x"] as [String?], as: "array[null, 'x']::text[]")
            try await expect([nil, [7]] as [[UInt8]?], as: "array[null, '\\x07']::bytea[]")
            try await expect([] as [Int], as: "'{}'::int8[]")
            try await expect([] as [String?], as: "'{}'::text[]")
            try await expect([1, 2] as [Int]?, as: "'{1,2}'::int8[]")
            #expect(try await connection.query("select \(nil as [Int]?)")[0].decode(0, as: [Int]?.self) == nil)
        }
    }

    @Test("in arrays of texts that are written in place are what they were written as")
    func textArrays() async throws {
        try await withConnection { connection in
            var texts = PostgresTextArray()
            #expect(try await connection.query("select \(texts) = '{}'::text[]")[0].decode(0, as: Bool.self))
            texts.append { $0 += "grüße, ".utf8 }
            texts.append { _ in }
            let full = texts
            texts.appendNull()
            texts.append { $0.append(contentsOf: [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)) }
            let row = try await connection.query("select \(full), \(texts)")[0]
            #expect(try row.decode(0, as: [String].self) == ["grüße, ", ""])
            #expect(
                try row.decode(1, as: [String?].self) == ["grüße, ", "", nil, String(repeating: "x", count: 100_000)])
        }
    }

    @Test("of a megabyte, and of many megabytes at once, pass both ways")
    func large() async throws {
        try await withConnection { connection in
            var generator = SeededGenerator(seed: 7)
            let megabyte = (0..<1_048_576).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            #expect(try await connection.query("select \(megabyte)")[0].decode(0, as: [UInt8].self) == megabyte)
            // More than the socket's buffers hold in either direction while the other side is still busy sending.
            let many = [[UInt8]](repeating: megabyte, count: 24)
            let rows = try await connection.query("select unnest(\(many))")
            #expect(rows.count == 24)
            #expect(try rows.allSatisfy { try $0.decode(0, as: [UInt8].self) == megabyte })
        }
    }

    @Test("that would be SQL stay values")
    func injection() async throws {
        try await withConnection { connection in
            try await connection.query("create table things (name text)")
            let attack = "'); drop table things; --"
            let query: PostgresQuery = "insert into things values (\(attack))"
            #expect(query.sql == "insert into things values ($1)")
            try await connection.query(query)
            #expect(try await connection.query("select name from things")[0].decode("name", as: String.self) == attack)
        }
    }

    @Test("are parameters with their types, whatever is interpolated but unescaped text")
    func interpolation() {
        let table = "things"
        let query = PostgresQuery(
            "things.find",
            "select * from \(unescaped: table) where a = \(1) and b = any(\(["x"])) and c = \([1, 2] as [UInt8])")
        #expect(query.sql == "select * from things where a = $1 and b = any($2) and c = $3")
        #expect(query.parameterTypes == [.int8, .textArray, .bytea])
        #expect(query.name == "things.find")
    }

    @Test("of another type than asked for are refused with the column's name and both types")
    func mismatch() async throws {
        try await withConnection { connection in
            let rows = try await connection.query(
                """
                select 12345::int8 as big, null::text as nothing, 1.5::numeric as exact, 'infinity'::timestamptz as never,
                    array[[1, 2], [3, 4]]::int8[] as square, array[1, null]::int8[] as holes
                """)
            func refusal<T: PostgresDecodable>(_ column: String, _ type: T.Type) async -> String? {
                let error = await failure { _ = try rows[0].decode(column, as: type) }
                #expect(error?.kind == .decoding)
                return error?.message
            }
            #expect(await refusal("big", String.self) == "column \"big\": wanted String, got bigint")
            #expect(await refusal("big", Int32.self) == "column \"big\": wanted Int32, got bigint")
            #expect(await refusal("nothing", String.self) == "column \"nothing\": wanted String, got NULL")
            #expect(await refusal("exact", Int.self) == "column \"exact\": wanted Int, got numeric")
            #expect(await refusal("never", PostgresTimestamp.self)?.contains("infinite") == true)
            #expect(await refusal("square", [Int].self)?.contains("2 dimensions") == true)
            #expect(await refusal("holes", [Int].self)?.contains("got NULL") == true)
            #expect(await refusal("absent", Int.self) == "there is no column \"absent\" in the result")
            let few = await failure { _ = try rows[0].values(Int.self, String?.self) }
            #expect(few?.message == "wanted 2 columns, got 6")
            #expect(try rows[0].decode("holes", as: [Int?].self) == [1, nil])
        }
    }

    @Test("that are narrower integers widen")
    func widening() async throws {
        try await withConnection { connection in
            let row = try await connection.query("select 1::int2, 2::int4, 3::int8, 0.5::float4")[0]
            #expect(try row.values(Int.self, Int64.self, Int.self, Double.self) == (1, 2 as Int64, 3, 0.5))
        }
    }
}
