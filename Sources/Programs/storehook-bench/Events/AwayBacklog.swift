import EventStore
import Foundation
import Postgres

/// Events numbered in each account's order, and the backlog they leave for an endpoint that was away meanwhile.
struct AwayBacklog: Sendable {
    let pool: PostgresPool
    /// Of how many accounts they are.
    let accounts: Int

    /// How long the endpoint is to have been away.
    static let hours = 6

    /// Makes the accounts.
    func prepare() async throws {
        try await pool.query("create schema bench")
        try await pool.query(
            """
            create table bench.accounts (
                number bigint primary key, token uuid not null, sequence bigint not null default 0) with (fillfactor = 50)
            """)
        try await pool.query(
            """
            insert into bench.accounts (number, token)
            select n, lpad(to_hex(n), 32, '0')::uuid from generate_series(1, \(Int64(accounts))) n
            """, deadline: .seconds(120))
    }

    /// Writes the next event of an account. The account's row is locked meanwhile, as in the real writer.
    func writeOne(on writers: PostgresPool) async throws -> [Int64] {
        try await writers.query(
            PostgresQuery(
                "bench.event",
                """
                with account as (
                    update bench.accounts set sequence = sequence + 1 where number = \(Int64.random(in: 1...Int64(accounts)))
                    returning token, sequence
                ), event as (
                    insert into storehook.events (kind, environment, bundle_id, token, version, sequence, at, is_late,
                                                  is_correction, content)
                    select 'account.access_changed', 'Production', 'com.example.storehook', token, sequence, sequence, now(), false,
                           false, \(DeliveriesSite.content)
                      from account
                    returning id, told_at
                ), noted as (
                    insert into storehook.events_unplaced (id, told_at) select id, told_at from event
                )
                select id from event
                """)
        ).map { try $0.decode(0) }
    }

    /// Writes the events of the hours until now and gives them their places; every endpoint counts as having got them.
    /// - Returns: the position before the first.
    func write(_ count: Int, _ events: EventStore) async throws -> Int64 {
        try await pool.query(
            "update storehook.endpoints set created_at = now() - make_interval(hours => \(Int32(Self.hours + 1)))")
        let before = try await last()
        let portion = 10_000
        for first in stride(from: 0, to: count, by: portion) {
            try await pool.query(
                .portion(first, min(portion, count - first), of: count, accounts), deadline: .seconds(120))
        }
        while try await events.place() > 0 {}
        try await pool.query(
            """
            update storehook.endpoint_cursors set position = last.position, queued_position = last.position
              from (select coalesce(max(position), 0) as position from storehook.event_places) last
            """)
        try await pool.query("vacuum (analyze)", deadline: .seconds(600))
        return before
    }

    /// The last position that was given.
    func last() async throws -> Int64 {
        try await pool.query("select coalesce(max(position), 0)::bigint from storehook.event_places").one().decode(0)
    }

    /// Sets a paused endpoint's state as after those hours: nothing was delivered since that position, and a probe
    /// failed each minute.
    func pass(_ endpoint: Int64, since position: Int64) async throws {
        try await pool.withTransaction(TransactionOptions(name: "bench.pass")) { session in
            try session.query(
                """
                update storehook.endpoint_cursors set position = \(position), queued_position = \(position), has_resends = false
                 where endpoint_id = \(endpoint)
                """)
            try session.query("delete from storehook.delivery_queue where endpoint_id = \(endpoint)")
            try session.query("delete from storehook.deliveries_pending where endpoint_id = \(endpoint)")
            try session.query("delete from storehook.delivery_lanes where endpoint_id = \(endpoint)")
            try session.query(
                """
                update storehook.endpoint_health
                   set failing_since = now() - make_interval(hours => \(Int32(Self.hours))), paused_at = now() - make_interval(hours => \(Int32(Self.hours))),
                       probes = \(Int32(Self.hours * 60)), failures = failures + \(Int32(Self.hours * 60)), probe_at = now() + interval '5 seconds'
                 where endpoint_id = \(endpoint)
                """)
        }
    }

    /// The events written since a position, by number: the account of each, and its number in the account's order.
    func told(since position: Int64) async throws -> [Int64: (account: UUID, sequence: Int64)] {
        let rows = try await pool.query(
            """
            select e.id, e.token, e.sequence
              from storehook.event_positions p
              join storehook.events e on e.told_at = p.told_at and e.id = p.id
             where p.last > \(position) and p.position > \(position)
            """, deadline: .seconds(300))
        var told: [Int64: (account: UUID, sequence: Int64)] = [:]
        for row in rows { told[try row.decode(0)] = (try row.decode(1), try row.decode(2)) }
        return told
    }
}

extension PostgresQuery {
    /// A portion of the events of some hours, in the order in which they were written.
    fileprivate static func portion(_ first: Int, _ count: Int, of all: Int, _ accounts: Int) -> PostgresQuery {
        PostgresQuery(
            "bench.portion",
            """
            with drawn as materialized (
                select n, 1 + floor(random() * \(Int64(accounts)))::bigint as number
                  from generate_series(\(Int64(first)), \(Int64(first + count - 1))) n
            ), held as (
                update bench.accounts a set sequence = a.sequence + drawn.count
                  from (select number, count(*) from drawn group by number) drawn
                 where a.number = drawn.number
                returning a.number, a.token, a.sequence - drawn.count as before
            ), next as (
                select d.n, h.token, h.before + row_number() over (partition by d.number order by d.n) as sequence
                  from drawn d join held h using (number)
            ), event as (
                insert into storehook.events (told_at, kind, environment, bundle_id, token, version, sequence, at, is_late, is_correction,
                                              content)
                select told_at, 'account.access_changed', 'Production', 'com.example.storehook', token, sequence, sequence, told_at,
                       false, false, \(DeliveriesSite.content)
                  from (select n, token, sequence, now() - make_interval(hours => \(Int32(AwayBacklog.hours)))
                               * (1 - n::double precision / \(Double(all))) as told_at from next) n
                 order by n.n
                returning id, told_at
            )
            insert into storehook.events_unplaced (id, told_at) select id, told_at from event
            """)
    }
}
