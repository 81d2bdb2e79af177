package import Base
import Foundation
import Postgres

extension EventStore {
    /// The channel that announces placed events. A hint, without a payload: a reader that misses it polls a
    /// moment later.
    package static let channel = "storehook_events"

    /// Puts committed events into the order in which readers follow them: all that were committed when it was called,
    /// up to the limit. Listeners are notified in a separate transaction: while a listener reads nothing, notifying
    /// may fail, and placing must not.
    /// - Returns: how many.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func place(atMost limit: Int = 10_000) async throws -> Int {
        let placed: Int32 = try await pool.query(
            PostgresQuery("events.place", "select storehook.place_events(\(Int32(clamping: limit)))")
        ).one().decode(0)
        if placed > 0 {
            // A hint need not survive, so its commit waits for nothing.
            _ = try? await pool.query(
                PostgresQuery(
                    "events.announce",
                    "select set_config('synchronous_commit', 'off', true), pg_notify(\(Self.channel), '')::text"),
                deadline: .seconds(2))
        }
        return Int(placed)
    }

    /// Makes the missing partitions from yesterday to so many days ahead; returns how many.
    @discardableResult
    package func ensurePartitions(daysAhead: Int = 7) async throws -> Int {
        let made: Int32 = try await pool.query(
            PostgresQuery(
                "events.ensure_partitions",
                "select storehook.ensure_event_partitions(\(Int32(clamping: daysAhead)))")
        ).one().decode(0)
        return Int(made)
    }

    /// Drops the events of days that ended longer ago than they are kept, with their positions; never one without a
    /// position. A day that is being read goes another time.
    /// - Parameters:
    ///   - days: whole days (UTC) for which events are kept; nil: for ever.
    ///   - most: how many places, one for each transaction's events, go at once: 200,000 take a second, and a
    ///     day may have
    ///     millions.
    /// - Returns: how many days were dropped.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func dropOld(keeping days: Int?, atOnce most: Int = 200_000) async throws -> Int {
        guard let days else { return 0 }
        let kept = Int32(clamping: days)
        let old = try await pool.query(
            PostgresQuery("events.old_days", "select day::text from storehook.event_days(\(kept)) as day")
        ).map { try $0.decode(0, as: String.self) }
        var dropped = 0
        for day in old {
            do {
                while try await deletePositions(of: day, keeping: kept, atMost: most) == most {}
                let isGone: Bool = try await pool.query(
                    PostgresQuery(
                        "events.drop_day", "select storehook.drop_event_day(\(day)::text::date, \(kept))")
                ).one().decode(0)
                if isGone { dropped += 1 }
            } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                continue
            }
        }
        return dropped
    }

    private func deletePositions(of day: String, keeping kept: Int32, atMost most: Int) async throws -> Int {
        let deleted: Int32 = try await pool.query(
            PostgresQuery(
                "events.delete_positions",
                "select storehook.delete_event_positions(\(day)::text::date, \(kept), \(Int32(clamping: most)))")
        ).one().decode(0)
        return Int(deleted)
    }

    /// How far the clock is behind.
    package struct Status: Sendable, Hashable {
        /// Events without a place yet.
        package var unplaced: Int64
        /// How long the earliest due row has been due; zero where none is.
        package var dueFor: Duration
    }

    /// How far the clock is behind.
    package func status() async throws -> Status {
        let row = try await pool.query(
            PostgresQuery("events.status", "select unplaced, due_seconds from storehook.telling_status")
        ).one()
        return Status(unplaced: try row.decode(0), dueFor: .seconds(try row.decode(1, as: Double.self)))
    }
}

extension EventStore: MonitoredStore {
    /// See ``status()``.
    package static let monitored = "telling_status"

    /// How far the clock is behind.
    package func samples() async throws -> [MetricSample] {
        let status = try await status()
        return [
            MetricSample("storehook_events_unplaced", [], Double(status.unplaced)),
            MetricSample("storehook_events_due_seconds", [], status.dueFor),
        ]
    }
}
