import Foundation
import Postgres
import TestSupport
import Testing

@Suite("A test's database")
struct TestDatabaseTests {
    static let template = TestTemplate { database in
        let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
        try await connection.query("create table prepared as select 1 as one")
        await connection.close()
    }

    @Test("is its own copy of what was prepared once", arguments: 0..<4)
    func copies(_: Int) async throws {
        try await withTestDatabase(from: Self.template) { database in
            let connection = try await PostgresConnection.connect(to: database.configuration, logger: quiet)
            let updated = try await connection.query("update prepared set one = one + 1 returning one")
            #expect(try updated.map { try $0.decode(0, as: Int.self) } == [2])
        }
    }

    @Test("is gone soon afterwards, also when the test fails while somebody is still connected")
    func dropped() async throws {
        struct Failed: Error {}
        try await withTestDatabase { observed in
            let observer = try await PostgresConnection.connect(to: observed.configuration, logger: quiet)
            var name = ""
            var left: PostgresConnection?
            await #expect(throws: Failed.self) {
                try await withTestDatabase { database in
                    name = database.name
                    left = try await PostgresConnection.connect(
                        to: PostgresConfiguration(url: database.url), logger: quiet)
                    throw Failed()
                }
            }
            #expect(left != nil)
            #expect(!name.isEmpty)
            try await eventually("it is dropped") {
                try await observer.query("select 1 from pg_database where datname = \(name)").isEmpty
            }
        }
    }
}

@Suite("What tests are steered by")
struct TestSteeringTests {
    @Test("a clock stands still until it is moved")
    func clock() {
        let clock = ManualClock(millisecondsSince1970: 1000)
        #expect(clock.millisecondsSince1970 == 1000)
        clock.advance(by: .milliseconds(-1500))
        #expect(clock.millisecondsSince1970 == -500)
        clock.set(millisecondsSince1970: 7)
        #expect(clock.millisecondsSince1970 == 7)
    }

    @Test("a seed repeats its numbers, which are SplitMix64's")
    func generator() {
        var generator = SeededGenerator(seed: 1_234_567)
        #expect(generator.next() == 6_457_827_717_110_365_317)
        #expect(generator.next() == 3_203_168_211_198_807_973)
        var again = SeededGenerator(seed: generator.seed)
        #expect(again.next() == 6_457_827_717_110_365_317)
    }
}
