import Postgres
import Testing

@Suite("A timestamp")
struct TimestampTests {
    @Test(
        "rounds to milliseconds towards the past, also before 1970",
        arguments: [(0, 0), (999, 0), (1000, 1), (-1, -1), (-999, -1), (-1000, -1), (-1001, -2)] as [(Int64, Int64)])
    func flooring(microseconds: Int64, milliseconds: Int64) {
        #expect(PostgresTimestamp(microsecondsSince1970: microseconds).millisecondsSince1970 == milliseconds)
    }

    @Test("beyond what timestamptz holds becomes the earliest or the latest, and never traps")
    func extremes() {
        #expect(PostgresTimestamp(millisecondsSince1970: .max) == .latest)
        #expect(PostgresTimestamp(millisecondsSince1970: .min) == .earliest)
        #expect(PostgresTimestamp(microsecondsSince1970: .min) == .earliest)
        #expect(PostgresTimestamp(millisecondsSince1970: -62_135_769_600_000) > .earliest)
        var bytes: [UInt8] = []
        PostgresTimestamp.latest.encode(into: &bytes)
        PostgresTimestamp.earliest.encode(into: &bytes)
        #expect(bytes.count == 16)
    }

    @Test("is ordered by time")
    func order() {
        #expect(PostgresTimestamp(millisecondsSince1970: -1) < PostgresTimestamp(microsecondsSince1970: 0))
    }
}
