import EvidenceStore
import Pipeline
import Postgres
import Simulation
import StandInSupport
import TestSupport
import Testing

@Suite("The transaction in which something handed in is applied")
struct IntakeTransactionTests {
    private struct Refusal: Error {}

    @Test("is rolled back whole by whoever joins it, and the same may be handed in again")
    func rolledBack() async throws {
        try await withDesk { desk in
            let records = desk.records(desk.purchase())
            let before = try await desk.contents()
            await #expect(throws: Refusal.self) {
                try await desk.intake().take(records) { _, session -> EvidencePipeline.Ownership in
                    try session.query("insert into storehook.outbox_stored (rows) values (7)")
                    throw Refusal()
                }
            }
            #expect(try await desk.contents() == before)
            #expect(try await desk.handIn(records) == ["applied", "applied"])
            #expect(try await desk.books()?.isWhole == true)
        }
    }

    @Test("leaves nothing when its session dies in the middle")
    func killed() async throws {
        try await withDesk { desk in
            let records = desk.records(desk.purchase())
            let before = try await desk.contents()
            await #expect(throws: PostgresError.self) {
                try await desk.intake().take(records) { _, session in
                    try session.query("select pg_terminate_backend(pg_backend_pid())")
                    return .unchanged
                }
            }
            #expect(try await desk.contents() == before)
            #expect(try await desk.handIn(records) == ["applied", "applied"])
            let books = try #require(try await desk.books())
            #expect(books.received == 2 && books.applied == 2 && books.isWhole)
        }
    }

    @Test("is tried again after a deadlock or a serialization failure, a few times", arguments: ["40P01", "40001"])
    func repeated(state: String) async throws {
        try await withDesk { desk in
            // A sequence keeps count over rollbacks.
            try await desk.pool.withTransaction {
                try $0.executeScript(
                    """
                    create sequence storehook.tries;
                    create function storehook.fail_until(success bigint, state text) returns void language plpgsql as $$
                    begin
                        if nextval('storehook.tries') < success then
                            raise exception 'not yet' using errcode = state;
                        end if;
                    end $$;
                    """)
            }
            let records = desk.records(desk.purchase())
            let (answers, _) = try await desk.intake().take(records) { _, session in
                try session.query("select storehook.fail_until(4, \(state))")
                return .unchanged
            }
            #expect(answers.map(\.words) == ["applied", "applied"])
            #expect(try await desk.value("select last_value from storehook.tries", as: Int64.self) == 4)
            let error = await #expect(throws: PostgresError.self) {
                try await desk.intake().take(desk.records(desk.purchase(lane: 2))) { _, session in
                    try session.query("select storehook.fail_until(1000, \(state))")
                    return .unchanged
                }
            }
            #expect(error?.sqlState?.rawValue == state)
            let books = try #require(try await desk.books())
            #expect(books.received == 2 && books.applied == 2 && books.isWhole)
        }
    }

    @Test("holds the purchase until it ends, of a duplicate as well")
    func holds() async throws {
        try await withDesk { desk in
            let records = desk.records(desk.purchase())
            #expect(try await desk.handIn(records) == ["applied", "applied"])
            let holder = try await HeldTransaction(
                in: desk.database, "select 1 from storehook.purchase_lines for update")
            let error = await #expect(throws: PostgresError.self) {
                try await desk.handIn(records, to: desk.intake(deadline: .milliseconds(300)))
            }
            #expect(error?.isTransient == true)
            try await holder.release()
            #expect(try await desk.handIn(records) == ["duplicate", "duplicate"])
        }
    }

    @Test("of the same records at once in many sessions applies them once, and keeps the others' copies as duplicates")
    func atOnce() async throws {
        try await withDesk(connections: 8) { desk in
            for lane in 1...20 {
                let records = desk.records(desk.purchase(lane: lane))
                let intake = desk.intake()
                let words = try await withThrowingTaskGroup(of: [String].self) { group in
                    for _ in 0..<8 { group.addTask { try await desk.handIn(records, to: intake) } }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                #expect(words.count { $0 == "applied" } == 2)
                #expect(words.count { $0 == "duplicate" } == 14)
            }
            let books = try #require(try await desk.books())
            #expect(books.applied == 40 && books.duplicate == books.received - 40 && books.isWhole)
            #expect(books.acknowledged == books.received)
        }
    }

    @Test(
        "never deadlocks with workers that apply Apple's notification of the same purchase, and ends in the same rows")
    func beside() async throws {
        let lanes = 1...(takesAllSamples ? 500 : 50)
        var generator = TestSupport.SeededGenerator()
        let beside = try await withDesk(connections: 6) { desk in
            let intake = desk.intake()
            try await desk.withWorker {
                // Side by side, ten purchases at a time, so that they meet in one of the worker's batches.
                for part in Array(lanes).shuffled(using: &generator).batches(of: 10) {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for lane in part {
                            let bought = desk.purchase(lane: lane)
                            let records = desk.records(bought)
                            let text = Array(bought.signed(by: desk.authority).utf8)
                            group.addTask { try await desk.outbox.store([text]) }
                            group.addTask { _ = try await desk.handIn(records, to: intake) }
                        }
                        // Many purchases in one call, in an order of their own.
                        let all = part.reversed().flatMap { desk.records(desk.purchase(lane: $0)) }
                        group.addTask { _ = try await desk.handIn(all, to: intake) }
                        try await group.waitForAll()
                    }
                }
            }
            let books = try #require(try await desk.books())
            #expect(books.pending == 0 && books.dead == 0 && books.isWhole, "seed \(generator.seed)")
            #expect(books.applied == Int64(3 * lanes.count), "seed \(generator.seed)")
            #expect(
                try await desk.value("select count(*) from storehook.purchase_lines", as: Int64.self)
                    == Int64(lanes.count))
            // What is tried again hides them from the answers.
            #expect(
                try await desk.value(
                    "select deadlocks from pg_stat_database where datname = current_database()", as: Int64.self) == 0,
                "seed \(generator.seed)")
            return try await desk.rows()
        }
        // One after the other, every second time the notification first.
        let oneByOne = try await withDesk { desk in
            let texts = lanes.map { Array(desk.purchase(lane: $0).signed(by: desk.authority).utf8) }
            try await desk.withWorker {
                try await desk.outbox.store(lanes.filter { $0.isMultiple(of: 2) }.map { texts[$0 - 1] })
            }
            for lane in lanes {
                #expect(try await desk.handIn(desk.records(desk.purchase(lane: lane))) == ["applied", "applied"])
            }
            try await desk.withWorker {
                try await desk.outbox.store(lanes.filter { !$0.isMultiple(of: 2) }.map { texts[$0 - 1] })
            }
            return try await desk.rows()
        }
        #expect(beside == oneByOne, "seed \(generator.seed)")
    }
}
