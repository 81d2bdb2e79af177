import Foundation
import Postgres
import TestSupport
import Testing

/// Of two conditions that stand beside each other PostgreSQL asks the cheaper one first, by what it holds for cheap in this version and
/// with these statistics. So a pattern guards a conversion only inside of one expression.
@Suite("A text that SQL converts to a date or a number")
struct GuardedCastTests {
    /// Has the planner ask conversions first, and last what might have guarded them: patterns, equal texts and numbers.
    private static let conversionsFirst = """
        update pg_catalog.pg_proc set procost = 0.0001
         where proname in ('to_date', 'to_timestamp', 'to_number', 'date_in', 'int2in', 'int4in', 'int8in', 'numeric_in', 'uuid_in',
                           'timestamptz_in', 'timestamp_in', 'json_in', 'jsonb_in', 'inet_in', 'regclassin', 'byteain', 'boolin',
                           'substr', 'right', 'left', 'split_part', 'text', 'date_lt', 'date_le', 'date_gt', 'date_ge', 'date_eq');
        update pg_catalog.pg_proc set procost = 100000
         where proname in ('textregexeq', 'nameregexeq', 'texticregexeq', 'nameicregexeq', 'textregexne', 'nameregexne', 'textlike',
                           'namelike', 'texteq', 'nameeq', 'nametexteq', 'textne', 'namene', 'chareq', 'int2eq', 'int4eq',
                           'int8eq', 'oideq', 'starts_with');
        """

    /// Partitions with names that are no days, and as many other relations as names come to mind.
    private static let oddNames = """
        create table storehook."outbox_1999_old" partition of storehook.outbox
            for values from ('1999-01-01 00:00:00+00') to ('1999-01-02 00:00:00+00');
        create table storehook."outbox_old" partition of storehook.outbox
            for values from ('1999-01-02 00:00:00+00') to ('1999-01-03 00:00:00+00');
        create table storehook."events_of 1999" partition of storehook.events
            for values from ('1999-01-01 00:00:00+00') to ('1999-01-02 00:00:00+00');
        create table public.events_123 (); create table public."outbox_99999999" (); create table public."events_ABCDEFGH" ();
        create table public."123_" ();
        """

    @Test(
        "is converted only where it fits, whatever the planner asks first: in every view, by each of its columns, and in what lists days"
    )
    func views() async throws {
        try await withSchema { connection, _ in
            // Compiling plans that seem so expensive would take most of the test's time.
            try await connection.withTransaction { try $0.executeScript("set jit = off;" + Self.conversionsFirst) }
            try await connection.withTransaction { try $0.executeScript(Self.oddNames) }
            try await connection.query("select storehook.ensure_outbox_partitions(3)")
            let views = try await connection.query(
                """
                select c.relname::text, string_agg(format('v.%I is not null', a.attname), ' and ')
                  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
                 where c.relnamespace = 'storehook'::regnamespace and c.relkind = 'v' group by 1 order by 1
                """
            ).map { try $0.values(String.self, String.self) }
            #expect(views.count > 20)
            for (view, condition) in views {
                for condition in ["", " where \(condition)"] {
                    let query: PostgresQuery =
                        "select count(v::text) from storehook.\(unescaped: view) v\(unescaped: condition)"
                    await #expect(throws: Never.self, "\(view)\(condition)") { try await connection.query(query) }
                }
            }
            // Yesterday's, today's, and three days ahead.
            let days: PostgresQuery = """
                select count(*) from storehook.outbox_days where has_partition and day < (now() at time zone 'UTC')::date + 9
                """
            #expect(try await connection.value(days, as: Int64.self) == 5)
            #expect(
                try await connection.value(
                    "select count(*) from storehook.outbox_days where day < (now() at time zone 'UTC')::date - 90",
                    as: Int64.self) == 0)
            #expect(try await connection.value("select count(*) from storehook.event_days(0)", as: Int64.self) == 0)
            await #expect(throws: Never.self) {
                try await connection.query("select * from storehook.outbox_days_to_settle")
                try await connection.query("select * from storehook.telling_differences()")
            }
        }
    }

    /// What makes a date or a number of a text may fail.
    private static var conversion: Regex<Substring> {
        #/(?:to_date|to_number) *\(|(?:split_part|substr|right|left|replace|lower|upper|trim) *\([^()]*(?:\([^()]*\))?[^()]*\)\)*::(?:text::)?(?:uuid|bigint|int|integer|smallint|numeric|date|timestamptz|timestamp|inet|jsonb?|interval|boolean|double)\b|->> *'[^']*'\)*::(?:uuid|bigint|int|integer|smallint|numeric|date|timestamptz|inet|boolean|double)\b/#
    }

    /// The conversions that stand without a guard of their own.
    private func unguarded(_ text: String) -> [String] {
        let lines = text.split(separator: "\n")
        let conversion = Self.conversion
        return lines.indices.flatMap { place -> [String] in
            let line = lines[place].lowercased()
            guard line.contains("::") || line.contains("to_date") || line.contains("to_number") else { return [] }
            return line.matches(of: conversion).compactMap { match in
                // A CASE, or a pattern where only what it found is converted.
                let before = lines[max(0, place - 3)..<place].joined(separator: " ").lowercased()
                let context = "\(before) \(line[..<match.range.upperBound])".replacing(/\s+/, with: " ")
                let isGuarded = context.contains(/case when [^;]*then [^;]*$/) || context.contains("substring(")
                return isGuarded ? nil : String(match.output)
            }
        }
    }

    @Test("stands behind a guard of its own in every view, function and statement of the programs")
    func sources() async throws {
        try await withSchema { connection, _ in
            let texts = try await connection.query(
                """
                select p.proname::text, p.prosrc from pg_proc p where p.pronamespace = 'storehook'::regnamespace
                union all
                select c.relname::text, pg_get_viewdef(c.oid) from pg_class c
                 where c.relnamespace = 'storehook'::regnamespace and c.relkind = 'v'
                """
            ).map { try $0.values(String.self, String.self) }
            for (name, text) in texts { #expect(unguarded(text).isEmpty, "\(name): \(unguarded(text))") }
        }
        var found: Set<String> = []
        var files = 0
        let sources = packageRoot.appending(path: "Sources")
        for case let file as URL in FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
            ?? .init()
        where file.pathExtension == "swift" {
            files += 1
            let name = file.lastPathComponent
            found.formUnion(unguarded(try String(contentsOf: file, encoding: .utf8)).map { "\(name): \($0)" })
        }
        #expect(files > 300)
        // Texts that programs wrote, and beside which no condition stands; another text would be a fault, and is to be reported.
        #expect(
            found == [
                "PostgresQuery+accounts.swift: split_part(e.account, '/', 2)::uuid"
            ])
    }
}
