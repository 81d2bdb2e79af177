import AppStorePayloads
import AuditStore
import Base
import Foundation
import Postgres
import Staff
import TestSupport
import Testing

/// Endpoints and deliveries, for the desk.
struct EndpointTests {
    /// An endpoint for events of all apps, and one for each app's; to them 30 events about an account that arrived, three of the other app's
    /// that were given up, and one of the first app's that waits.
    private func fill(_ desk: RunningDesk) async throws {
        try await desk.observer.query(
            """
            insert into storehook.endpoints (id, url, bundle_id, state, reason, created_by, changed_by, secret)
            select n, 'https://example.com/' || n, case n when 2 then \(Desk.app) when 3 then \(Desk.other) end,
                   case when n = 1 then 'enabled' else 'disabled' end,
                   case n when 2 then 'moving to another host' when 3 then 'gone' end, 'cli:kim', 'cli:kim', decode(repeat('5ec2', 20), 'hex')
              from generate_series(1, 3) n
            """)
        try await desk.observer.query(
            """
            insert into storehook.endpoint_cursors (endpoint_id, position, queued_position)
            select n, 0, 0 from generate_series(1, 3) n
            """)
        try await desk.observer.query(
            "insert into storehook.endpoint_health (endpoint_id) select n from generate_series(1, 3) n")
        try await desk.observer.query(
            """
            with written as (
                insert into storehook.events
                       (told_at, id, kind, environment, bundle_id, token, original_transaction_id, sequence, version, at, is_late,
                        is_correction, content)
                select date_trunc('second', now()), n, case when n <= 30 then 'account.access_changed' else 'subscription.renewed' end,
                       'Production', case when n = 34 then \(Desk.app) when n > 30 then \(Desk.other) end,
                       case when n <= 30 then \(UUID(Desk.token(1))) end, case when n = 34 then '10001' when n > 30 then '10002' end, n,
                       case when n <= 30 then n end, now(), false, false, '{}'
                  from generate_series(1, 34) n
                returning id, told_at, sequence
            ), ended as (
                insert into storehook.deliveries (id, endpoint_id, event_id, told_at, sequence, outcome, attempts, status, reason)
                select id, case when id <= 30 then 1 else 3 end, id, told_at, sequence, case when id <= 30 then 'delivered' else 'dead' end, 1,
                       case when id <= 30 then 204 else 500 end, case when id > 30 then 'http_500' end
                  from written where id < 34
            )
            insert into storehook.deliveries_pending (id, endpoint_id, lane_id, position, event_id, told_at, sequence)
            overriding system value select id, 2, 1, 1, id, told_at, sequence from written where id = 34
            """)
        try await desk.observer.query(
            "update storehook.accounts set account = 'person-1' where token = \(UUID(Desk.token(1)))")
    }

    @Test("The list of endpoints is narrowed down by state and by app: one for all apps gets each app's events")
    func filters() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let (_, token) = try await desk.member(.viewer)
            for (query, ids) in [
                ("", [1, 2, 3]), ("state=enabled", [1]), ("state=disabled", [2, 3]), ("state=paused", []),
                ("app=\(Desk.app)", [1, 2]), ("app=com.example.none", [1]), ("state=disabled&app=\(Desk.other)", [3]),
            ] as [(String, [Int64])] {
                let list = try await desk.get("/admin/endpoints?\(query)", token)
                let found = list.object?["endpoints"]?.elements?.compactMap { $0.object?.integer("id") }
                #expect(found == ids, "\(query): \(list.body)")
            }
            #expect(try await desk.get("/admin/endpoints?state=gone", token).status == 400)
        }
    }

    @Test("Every role sees the endpoints and how they fare, never a secret; a person's words are shortened")
    func endpoints() async throws {
        try await withDesk { desk in
            try await fill(desk)
            for role in StaffRole.allCases {
                let (_, token) = try await desk.member(role)
                let list = try await desk.get("/admin/endpoints", token)
                #expect(list.object?.elementCount("endpoints") == 3 && !list.body.contains("5ec2"), "\(list.body)")
                for part in [
                    #""url":"https://example.com/3""#, #""state":"disabled""#, #""reason":"gone""#, #""dead":3"#,
                    #""reason":"mo…""#, #""state":"enabled""#, #""createdBy":"cli:kim""#,
                ] {
                    #expect(list.body.contains(part), "\(role) \(part): \(list.body)")
                }
                let first = try await desk.get("/admin/endpoints?limit=2", token)
                let next = try #require(first.object?.string("next"))
                let rest = try await desk.get("/admin/endpoints?after=\(next)", token)
                #expect(rest.object?.elementCount("endpoints") == 1 && rest.object?.string("next") == nil)
            }
            let (_, support) = try await desk.member(.support)
            let (_, viewer) = try await desk.member(.viewer)
            let place = try await desk.place()
            #expect(try await desk.get("/admin/endpoints?open=true", viewer).status == 403)
            #expect(try await desk.get("/admin/endpoints?open=true", support).body.contains("moving to another host"))
            let rows = try await desk.rows(after: place)
            #expect(rows.map(\.act) == ["open_personal_text"])
            #expect(rows.first?.after?.contains(#""opened": 1"#) == true)
            #expect(try await desk.get("/admin/endpoints?after=x", viewer).status == 400)
            #expect(try await desk.get("/admin/endpoints").status == 401)
            for (app, url) in [(Desk.app, "example.com/2"), (Desk.other, "example.com/3")] {
                let (_, some) = try await desk.member(.admin, of: [app], mail: "\(app)@example.com")
                let own = try await desk.get("/admin/endpoints", some)
                #expect(own.object?.elementCount("endpoints") == 1 && own.body.contains(url), "\(own.body)")
            }
        }
    }

    @Test("Every role sees deliveries, the latest first, in pages of 25; names are shortened, and opened on record")
    func deliveries() async throws {
        try await withDesk { desk in
            try await fill(desk)
            for role in StaffRole.allCases {
                let (_, token) = try await desk.member(role)
                let first = try await desk.get("/admin/deliveries", token)
                #expect(first.object?.elementCount("deliveries") == 25 && !first.body.contains("person-1"))
                #expect(first.body.contains(#""account":"pe…""#) && first.body.contains(#""event":"evt_34""#))
                let next = try #require(first.object?.string("next"))
                let second = try await desk.get("/admin/deliveries?after=\(next)", token)
                #expect(second.object?.elementCount("deliveries") == 9 && second.object?.string("next") == nil)
                for (query, count) in [
                    ("outcome=dead", 3), ("outcome=waiting", 1), ("outcome=delivered&limit=200", 30),
                    ("endpoint=1&limit=200", 30), ("endpoint=9", 0), ("event=evt_31", 1), ("event=31", 1),
                    ("account=person-1&limit=200", 30), ("account=person-1&event=evt_31", 0),
                    ("from=2020-01-01&limit=200", 34), ("to=2020-01-01", 0),
                ] {
                    let found = try await desk.get("/admin/deliveries?\(query)", token)
                    #expect(found.object?.elementCount("deliveries") == count, "\(query): \(found.body)")
                }
            }
            let (_, viewer) = try await desk.member(.viewer)
            let (_, support) = try await desk.member(.support)
            #expect(try await desk.get("/admin/deliveries?open=true", viewer).status == 403)
            let place = try await desk.place()
            let opened = try await desk.get("/admin/deliveries?open=true&limit=200", support)
            #expect(opened.body.contains(#""account":"person-1""#))
            let rows = try await desk.rows(after: place)
            #expect(rows.map(\.act) == ["open_personal_text"])
            #expect(rows.first?.after?.contains(#""opened": 30"#) == true)
            let file = try await desk.get("/admin/deliveries?format=csv", viewer)
            #expect(file.body.split(separator: "\n").count == 35)
            for wrong in ["after=x", "event=x", "endpoint=0", "outcome=lost", "from=x", "account="] {
                #expect(try await desk.get("/admin/deliveries?\(wrong)", viewer).status == 400, "\(wrong)")
            }
            for after in ["-9223372036854775808", "9223372036854775807", "0"] {
                #expect(try await desk.get("/admin/deliveries?after=\(after)", viewer).status == 200, "\(after)")
            }
            for (app, count) in [(Desk.app, 1), (Desk.other, 3)] {
                let (_, some) = try await desk.member(.support, of: [app], mail: "\(app)@example.com")
                for query in ["", "?limit=200", "?account=person-1"] {
                    let own = try await desk.get("/admin/deliveries\(query)", some)
                    let expected = query.hasSuffix("person-1") ? 0 : count
                    #expect(own.object?.elementCount("deliveries") == expected, "\(app) \(query): \(own.body)")
                }
            }
            #expect(try await desk.get("/admin/deliveries").status == 401)
        }
    }
}
