import Postgres

extension EndpointStore {
    /// Deliveries as they stood at an instant, by the dates of their calls and ends; those that were made later are left out.
    ///
    /// A delivery is dated by its event. One that was sent again was put back later than that: when, its row does not say, but the delivery before
    /// it may. Else it is there from its first call on.
    /// - Throws: `PostgresError`.
    func standing(of records: [DeliveryRecord], at instant: PostgresTimestamp) async throws -> [DeliveryRecord] {
        guard !records.isEmpty else { return [] }
        let rows = try await pool.query(.callsThen(of: records, by: instant))
        var calls: [Int64: CallsThen] = [:]
        for row in rows { calls[try row.decode("id")] = try CallsThen(row) }
        return records.compactMap { record in
            var then = record
            return then.turn(to: instant, calls[record.id] ?? CallsThen()) ? then : nil
        }
    }
}

/// The calls for a delivery by an instant, and the delivery before it of the same event to the same endpoint.
private struct CallsThen {
    var all = 0
    var byThen = 0
    var code: String?
    var status: Int?
    var isAgain = false
    var wasPutBack: PostgresTimestamp?

    init() {}

    init(_ row: PostgresRow) throws {
        all = Int(try row.decode("calls", as: Int64.self))
        byThen = Int(try row.decode("calls_then", as: Int64.self))
        code = try row.decode("code")
        status = try row.decode("status", as: Int16?.self).map { Int($0) }
        isAgain = try row.decode("is_again")
        wasPutBack = try row.decode("put_back_at")
    }
}

extension DeliveryRecord {
    /// - Returns: whether it was there.
    fileprivate mutating func turn(to instant: PostgresTimestamp, _ calls: CallsThen) -> Bool {
        func isPast(_ date: PostgresTimestamp?) -> Bool { date.map { $0 <= instant } ?? false }
        guard toldAt <= instant else { return false }
        // What is tried next is of now.
        dueAt = nil
        if !isPast(resentAt) { resentAt = nil }
        if isPast(endedAt) { return true }
        guard !calls.isAgain || isPast(calls.wasPutBack) || calls.byThen > 0 else { return false }
        // Releases before wrote no calls down.
        isDated = endedAt == nil || attempts <= calls.all
        (outcome, endedAt, attempts) = (.waiting, nil, calls.byThen)
        // A call that succeeded ended it.
        (reason, status) = (calls.code, calls.status)
        return true
    }
}

extension PostgresQuery {
    /// The calls of deliveries, each by an index.
    fileprivate static func callsThen(of records: [DeliveryRecord], by instant: PostgresTimestamp) -> PostgresQuery {
        PostgresQuery(
            "delivery.calls_then",
            """
            select d.id, c.calls, c.calls_then, l.code, l.status, b.id is not null as is_again, b.resent_at as put_back_at
              from unnest(\(records.map(\.id)), \(records.map(\.eventID)), \(records.map(\.endpointID))) d (id, event_id, endpoint_id)
             cross join lateral (
                select count(*) as calls, count(*) filter (where a.attempted_at <= \(instant)) as calls_then
                  from storehook.delivery_attempts a where a.event_id = d.event_id and a.delivery_id = d.id) c
              left join lateral (
                select a.code, a.status from storehook.delivery_attempts a
                 where a.event_id = d.event_id and a.delivery_id = d.id and a.attempted_at <= \(instant)
                 order by a.attempted_at desc limit 1) l on true
              left join lateral (
                select b.id, b.resent_at from storehook.deliveries b
                 where b.event_id = d.event_id and b.endpoint_id = d.endpoint_id and b.id < d.id
                 order by b.id desc limit 1) b on true
            """)
    }
}
