import Foundation
import Postgres
import Synchronization

/// The queue in which a PostgreSQL server keeps what was notified until every session that listens has read it: 8 GB for all
/// of its databases together.
struct NotifyQueue: Sendable {
    let cluster: ChaosCluster

    /// Fills it, which takes a minute or two, and keeps it full while `body` lasts.
    func whileFull<T>(_ body: () async throws -> T) async throws -> T {
        let listener = try await cluster.connect()
        let session: Int32 = try await listener.query("select pg_backend_pid()").one().decode(0)
        try await listener.query("listen chaos_forgotten")
        let isHeld = Flag()
        // A listener that forgets an open transaction: within one, it reads nothing from the queue.
        let transaction = Task {
            try await listener.withTransaction { session in
                try session.query("select 1")
                while isHeld.isUp { Thread.sleep(forTimeInterval: 0.05) }
            }
        }
        var result: Result<T, any Error>
        do {
            try await fill()
            result = .success(try await body())
            guard try await isFull() else { throw NeverCameAbout(what: "a queue that stays full") }
        } catch {
            result = .failure(error)
        }
        // Ended by the server: one that ends its transaction itself would first read 8 GB.
        _ = try? await cluster.query("select pg_terminate_backend(\(session))")
        isHeld.lower()
        _ = try? await transaction.value
        await listener.close()
        return try result.get()
    }

    private func fill() async throws {
        let connection = try await cluster.connect()
        do {
            // Full after 105 times. A queue that is not full by the end of this never will be.
            let end = ContinuousClock.now + .seconds(400)
            while ContinuousClock.now < end {
                try Task.checkCancellation()
                try await connection.query(
                    "select count(pg_notify('chaos', lpad(i::text, 7900, 'x'))) from generate_series(1, 10000) i",
                    deadline: .seconds(60))
            }
            throw NeverCameAbout(what: "a full queue of notifications")
        } catch let error as PostgresError where error.sqlState == Self.tooMany {
            await connection.close()
        } catch {
            await connection.close()
            throw error
        }
    }

    private func isFull() async throws -> Bool {
        do {
            try await cluster.query("select pg_notify('chaos', '')")
            return false
        } catch let error as PostgresError where error.sqlState == Self.tooMany {
            return true
        }
    }

    /// 54000: program_limit_exceeded
    private static let tooMany: SQLState = "54000"

    private final class Flag: Sendable {
        private let value = Atomic(true)
        var isUp: Bool { value.load(ordering: .acquiring) }
        func lower() { value.store(false, ordering: .releasing) }
    }
}
