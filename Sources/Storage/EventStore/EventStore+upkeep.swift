package import Base
import Foundation
import Postgres

extension EventStore {
    /// The channel on which it is said that events have got a place. A hint, without a payload: who misses it asks a moment later.
    package static let channel = "storehook_events"

    /// Puts events that are committed into the order in which readers follow them: all that were when it was asked, up to the limit.
    /// Whoever listens is told, beside it: while somebody who listens reads nothing, notifying may fail, and placing may not.
    /// - Returns: how many.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func place(atMost limit: Int = 10_000) async throws -> Int {
        let placed: Int32 = try await pool.query(
            PostgresQuery("events.place", "select storehook.place_events(\(Int32(clamping: limit)))")
        ).one().decode(0)
        if placed > 0 {
            // There is nothing in it to be kept, so its commit waits for nothing.
            _ = try? await pool.query(
                PostgresQuery(
                    "events.announce",
                    "select set_config('synchronous_commit', 'off', true), pg_notify(\(Self.channel), '')::text"),
                deadline: .seconds(2))
        }
        return Int(placed)
    }

    /// Makes partitions from yesterday to so many days ahead, where they are missing; answers how many.
    @discardableResult
    package func ensurePartitions(daysAhead: Int = 7) async throws -> Int {
        let made: Int32 = try await pool.query(
            PostgresQuery(
                "events.ensure_partitions",
                "select storehook.ensure_event_partitions(\(Int32(clamping: daysAhead)))")
        ).one().decode(0)
        return Int(made)
    }

    /// Drops the events of days that are over for longer than they are kept, with their positions; none that has no position so far.
    /// A day that somebody reads at the moment goes another time.
    /// - Parameters:
    ///   - days: whole days (UTC) for which events are kept; nil: for ever.
    ///   - most: how many places go at once, one for what a transaction told: 200,000 take a second, and a day may have millions.
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

    /// How far telling is behind.
    package struct Status: Sendable, Hashable {
        /// Events without a place so far.
        package var unplaced: Int64
        /// How long ago what is due first was due; nothing where nothing is due.
        package var dueFor: Duration
    }

    /// See ``Status``; nil where the connected user may not ask.
    package func statusIfAllowed() async throws -> Status? {
        let mayAsk: Bool = try await pool.query(
            PostgresQuery("events.may_see", "select has_table_privilege('storehook.telling_status', 'select')")
        ).one().decode(0)
        return mayAsk ? try await status() : nil
    }

    /// How far telling is behind.
    package func status() async throws -> Status {
        let row = try await pool.query(
            PostgresQuery("events.status", "select unplaced, due_seconds from storehook.telling_status")
        ).one()
        return Status(unplaced: try row.decode(0), dueFor: .seconds(try row.decode(1, as: Double.self)))
    }

    /// The same as samples; nil where the connected user may not ask.
    package func samples() async throws -> [MetricSample]? {
        try await statusIfAllowed().map { status in
            [
                MetricSample("storehook_events_unplaced", [], Double(status.unplaced)),
                MetricSample("storehook_events_due_seconds", [], status.dueFor),
            ]
        }
    }
}
