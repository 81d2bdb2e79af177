import AppStorePayloads
import Base
import Events
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import EventStore

@Suite("Events that are over")
struct UpkeepTests {
    @Test("old days go with their positions, none that has no position so far, and the order goes on")
    func drop() async throws {
        try await EventDatabase.with { site in
            try await site.events.ensurePartitions(daysAhead: 0)
            for (day, number) in [(40, 1), (39, 2), (3, 3)] {
                let name: String = try await site.value(
                    "select to_char((now() - make_interval(days => \(Int32(day)))) at time zone 'UTC', 'YYYYMMDD')")
                try await site.pool.withTransaction { session in
                    try session.executeScript(
                        """
                        create table storehook.events_\(name) partition of storehook.events
                           for values from ('\(name) 00:00+00') to ('\(name) 24:00+00');
                        with event as (
                            insert into storehook.events (told_at, kind, environment, original_transaction_id, sequence, at,
                                                          is_late, is_correction, content)
                            values ('\(name) 12:00+00', 'test', 'Production', '\(number)', 1, now(), false, false, '"a":1')
                            returning id, told_at)
                        insert into storehook.events_unplaced (id, told_at) select id, told_at from event;
                        """)
                }
                if number != 2 { try await site.events.place() }
            }
            // The second day's got a place with the third's; what has none is put back to see that it stays.
            #expect(try await site.feed().map(\.sequence).count == 3)
            try await site.pool.query(
                """
                with gone as (delete from storehook.event_places where position = 2 returning id, told_at)
                insert into storehook.events_unplaced (id, told_at) select id, told_at from gone
                """)
            #expect(try await site.events.dropOld(keeping: 30, atOnce: 1) == 1)
            #expect(try await site.value("select count(*) from storehook.events") == 2 as Int64)
            #expect(try await site.feed().map(\.position) == [3, 4])
            #expect(try await site.events.dropOld(keeping: 30) == 1)
            #expect(try await site.feed().map(\.position) == [3])
            #expect(try await site.events.dropOld(keeping: nil) == 0)
        }
    }

    @Test("what was told is read back as it was, whatever is in it")
    func text() throws {
        let hostile = ["", "|", "\\", "a|b\\p\\e", "\\e", "包月", "1"]
        for text in hostile {
            var bytes: [UInt8] = []
            ReportedStateCodec.write(to: &bytes) { fields in
                fields.add(text)
                fields.add(nil as String?)
                fields.add(-1 as Int64?)
                fields.add(true as Bool?)
            }
            var reader = try ReportedStateCodec.Reader(String(decoding: bytes, as: UTF8.self))
            #expect(try reader.next() == text)
            #expect(try reader.next() == nil)
            #expect(try reader.nextNumber() == -1)
            #expect(try reader.nextFlag() == true)
            #expect(throws: PostgresError.self) { try reader.next() }
        }
        #expect(throws: PostgresError.self) { try ReportedStateCodec.Reader("2|a") }
        for number in [Int64.min, -10, 0, 9, 1_767_323_045_000, .max] {
            var reader = try ReportedStateCodec.Reader("1|\(number)|")
            #expect(try reader.nextNumber() == number)
            #expect(try reader.nextNumber() == nil)
        }
        for text in [
            "-9223372036854775809", "9223372036854775808", "99999999999999999999", "1.5", "0x1", " 1", "-",
        ] {
            var reader = try ReportedStateCodec.Reader("1|\(text)")
            #expect(throws: PostgresError.self, "\(text)") { try reader.nextNumber() }
        }
    }

    @Test("what an earlier release told for the nil UUID is read as told for no account")
    func nobody() throws {
        let none = UniqueIdentifier(high: 0, low: 0)
        let end = Timestamp(millisecondsSince1970: 1_767_323_045_000)
        let told = LastReportedSubscription(
            value: StatusAtInstant(
                status: .active, basis: .records, expiresAt: end, periodEndsAt: end, appAccountToken: none),
            since: end, account: none)
        var bytes: [UInt8] = []
        told.write(to: &bytes)
        var fields = try ReportedStateCodec.Reader(String(decoding: bytes, as: UTF8.self))
        let read = try LastReportedSubscription(&fields)
        #expect(fields.isAtEnd)
        #expect(read.account == nil && read.value.appAccountToken == nil && read.since == end)
    }
}
