import AdminAPI
import AppStorePayloads
import AuditStore
import Base
import EventStore
import Foundation
import Postgres
import Staff
import TestSupport
import Testing

/// Acts on endpoints and deliveries, for the desk.
struct EndpointActTests {
    private static let key = SecretKey(bytes: [UInt8](repeating: 7, count: SecretKey.size))

    /// An endpoint for events of all apps and one for the other app's, and an event about an account that was given up at the first one.
    private func fill(_ desk: RunningDesk) async throws {
        try await desk.observer.query(
            """
            insert into storehook.endpoints (id, url, bundle_id, created_by, changed_by, secret)
            select n, 'https://example.com/' || n, case n when 2 then \(Desk.other) end, 'cli:kim', 'cli:kim', decode(repeat('5ec2', 20), 'hex')
              from generate_series(1, 2) n
            """)
        try await desk.observer.query(
            """
            insert into storehook.endpoint_cursors (endpoint_id, position, queued_position)
            select n, 100, 100 from generate_series(1, 2) n
            """)
        try await desk.observer.query(
            "insert into storehook.endpoint_health (endpoint_id) select n from generate_series(1, 2) n")
        try await desk.observer.query(
            """
            with written as (
                insert into storehook.events
                       (told_at, id, kind, environment, token, sequence, version, at, is_late, is_correction, content)
                values (date_trunc('second', now()), 1000, 'account.access_changed', 'Production', \(UUID(Desk.token(1))), 1000, 1, now(),
                        false, false, '{}')
                returning id, told_at, sequence
            )
            insert into storehook.deliveries (id, endpoint_id, event_id, told_at, sequence, outcome, attempts, status, reason)
            select 1, 1, id, told_at, sequence, 'dead', 9, 500, 'http_500' from written
            """)
    }

    @Test(
        "Another secret is shown once and is no longer the old one, with its reason on record; a dry run changes nothing"
    )
    func rotate() async throws {
        try await withDesk(secrets: EndpointSecrets(Self.key)) { desk in
            try await fill(desk)
            let (_, admin) = try await desk.member(.admin)
            let (_, support) = try await desk.member(.support)
            let (_, some) = try await desk.member(.admin, of: [Desk.app], mail: "some@example.com")
            func stored() async throws -> [UInt8] {
                try await desk.observer.query("select secret from storehook.endpoints where id = 1").one().decode(0)
            }
            let before = try await stored()
            let place = try await desk.place()
            let body = #"{"hours": 2, "reason": "it leaked"}"#
            #expect(try await desk.post("/admin/endpoints/1/rotate", support, body).status == 403)
            for (path, token) in [("9", admin), ("x", admin), ("2", some)] {
                #expect(try await desk.post("/admin/endpoints/\(path)/rotate", token, body).status == 404, "\(path)")
            }
            for wrong in [
                #"{"reason": " "}"#, "{}", #"{"hours": 721, "reason": "x"}"#, #"{"force": true, "reason": "x"}"#,
            ] {
                #expect(try await desk.post("/admin/endpoints/1/rotate", admin, wrong).status == 400, "\(wrong)")
            }
            let dry = try await desk.post(
                "/admin/endpoints/1/rotate", admin, #"{"dryRun": true, "reason": "it leaked"}"#)
            #expect(dry.status == 200 && dry.object?.string("secret") == nil, "\(dry.body)")
            #expect(try await stored() == before)
            #expect(try await desk.rows(after: place).isEmpty)
            let rotated = try await desk.post("/admin/endpoints/1/rotate", admin, body)
            #expect(rotated.object?.string("secret")?.hasPrefix("whsec_") == true, "\(rotated.body)")
            #expect(rotated.object?.string("formerSecretEndsAt") != nil, "\(rotated.body)")
            #expect(try await stored() != before)
            let shown = try await desk.get("/admin/endpoints/1", admin)
            #expect(!shown.body.contains("whsec_") && shown.object?.string("newSecrets") == "made", "\(shown.body)")
            let rows = try await desk.rows(after: place)
            #expect(rows.map(\.act) == ["rotate_endpoint"] && rows.first?.actor.hasPrefix("staff:") == true)
            #expect(rows.first?.text.members["why"] == "it leaked")
            for _ in 0..<4 { #expect(try await desk.post("/admin/endpoints/1/rotate", admin, body).status == 200) }
            for more in [body, #"{"dryRun": true, "reason": "x"}"#] {
                let full = try await desk.post("/admin/endpoints/1/rotate", admin, more)
                #expect(full.status == 409 && full.code == "too_many_secrets", "\(full.body)")
            }
            let last = try await desk.post(
                "/admin/endpoints/1/rotate", admin, #"{"atOnce": true, "reason": "it leaked"}"#)
            #expect(last.status == 200 && last.object?.string("formerSecretEndsAt") == nil, "\(last.body)")
        }
    }

    @Test("Without the key of secrets none is made, and the endpoint says whether one is missing or cannot be used")
    func keyless() async throws {
        for (secrets, word, why) in [
            (EndpointSecrets(nil), "no_key", "is not set for the console"),
            (EndpointSecrets(nil, isNamed: true), "unusable_key", "its log says why"),
        ] {
            try await withDesk(secrets: secrets) { desk in
                try await fill(desk)
                let (_, admin) = try await desk.member(.admin)
                #expect(try await desk.get("/admin/endpoints/1", admin).object?.string("newSecrets") == word)
                let place = try await desk.place()
                for body in [#"{"reason": "it leaked"}"#, #"{"dryRun": true, "reason": "it leaked"}"#] {
                    let refused = try await desk.post("/admin/endpoints/1/rotate", admin, body)
                    #expect(refused.status == 409 && refused.code == "no_secret_key", "\(refused.body)")
                    #expect(refused.body.contains(why), "\(refused.body)")
                }
                #expect(try await desk.rows(after: place).isEmpty)
            }
        }
    }

    @Test("A test is asked for on record and made by a worker; what came back is the answer")
    func trial() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let (_, admin) = try await desk.member(.admin)
            let (_, support) = try await desk.member(.support)
            let place = try await desk.place()
            #expect(try await desk.post("/admin/endpoints/1/test", support, #"{"reason": "x"}"#).status == 403)
            #expect(try await desk.post("/admin/endpoints/9/test", admin, #"{"reason": "x"}"#).status == 404)
            let unknown = try await desk.post("/admin/endpoints/1/test", admin, #"{"event": "evt_9", "reason": "x"}"#)
            #expect(unknown.status == 404 && unknown.code == "event_not_found", "\(unknown.body)")
            #expect(
                try await desk.post("/admin/endpoints/1/test", admin, #"{"event": "x", "reason": "x"}"#).status == 400)
            #expect(try await desk.rows(after: place).isEmpty)
            let store = EndpointStore(desk.observer)
            async let answer = desk.post(
                "/admin/endpoints/1/test", admin, #"{"event": "evt_1000", "reason": "a new receiver"}"#)
            try await eventually("a worker takes it") {
                guard let asked = try await store.takeTrials(atMost: 1).first else { return false }
                #expect(asked.endpointID == 1 && asked.eventID == 1000 && asked.outcome == nil)
                #expect(try await store.takeTrials(atMost: 1).isEmpty, "no other worker has it")
                try await store.settle(
                    asked,
                    AskedTrial.Outcome(
                        webhookID: "evt_1000", isDelivered: false, code: "http_503", status: 503, milliseconds: 12,
                        message: "answered 503"))
                return true
            }
            let made = try await answer
            #expect(made.status == 200 && made.object?.string("outcome") == "http_503", "\(made.body)")
            #expect(made.object?.bool("delivered") == false && made.object?.integer("status") == 503)
            let rows = try await desk.rows(after: place)
            #expect(rows.map(\.act) == ["test_endpoint"] && rows.first?.subject == "1")
            #expect(rows.first?.after?.contains("evt_1000") == true)
            #expect(rows.first?.text.members["why"] == "a new receiver")
        }
    }

    @Test("A delivery that was given up is sent again once, on record; one that waits, or is another app's, is not")
    func resend() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let (_, admin) = try await desk.member(.admin)
            let (_, support) = try await desk.member(.support)
            let (_, some) = try await desk.member(.admin, of: [Desk.app], mail: "some@example.com")
            let shown = try await desk.get("/admin/deliveries/1", support)
            #expect(shown.object?.string("outcome") == "dead" && shown.object?.string("event") == "evt_1000")
            let place = try await desk.place()
            let body = #"{"reason": "the receiver is repaired"}"#
            #expect(try await desk.post("/admin/deliveries/1/resend", support, body).status == 403)
            for (path, token) in [("9", admin), ("9223372036854775807", admin), ("x", admin), ("1", some)] {
                #expect(try await desk.post("/admin/deliveries/\(path)/resend", token, body).status == 404, "\(path)")
            }
            let dry = try await desk.post(
                "/admin/deliveries/1/resend", admin, #"{"dryRun": true, "reason": "the receiver is repaired"}"#)
            #expect(dry.status == 200 && dry.object?.bool("isResent") == false, "\(dry.body)")
            #expect(try await desk.rows(after: place).isEmpty)
            let sent = try await desk.post("/admin/deliveries/1/resend", admin, body)
            #expect(sent.status == 200 && sent.object?.bool("isResent") == true, "\(sent.body)")
            let rows = try await desk.rows(after: place)
            #expect(rows.map(\.act) == ["resend_delivery"] && rows.first?.subject == "1", "\(rows)")
            #expect(rows.first?.text.members["why"] == "the receiver is repaired")
            #expect(try await EndpointStore(desk.observer).isPending(1000, to: 1))
            #expect(try await desk.get("/admin/deliveries/1", support).object?.string("resentAt") != nil)
            let again = try await desk.post("/admin/deliveries/1/resend", admin, body)
            #expect(again.status == 409 && again.code == "delivery_pending", "\(again.body)")
            try await desk.observer.query("delete from storehook.deliveries_pending")
            try await desk.observer.query("delete from storehook.events")
            let gone = try await desk.post("/admin/deliveries/1/resend", admin, body)
            #expect(gone.status == 409 && gone.code == "delivery_not_resent", "\(gone.body)")
        }
    }

    @Test("A delivery by itself has each call with what the endpoint said, shortened, or opened on record")
    func answers() async throws {
        try await withDesk { desk in
            try await fill(desk)
            try await desk.observer.query(
                """
                insert into storehook.delivery_attempts (delivery_id, event_id, attempted_at, milliseconds, code, status, answer)
                select d.id, d.event_id, now() - n * interval '1 minute', 12, 'http_500', 500,
                       case n when 1 then '<b>person-1</b> is unknown' end
                  from storehook.deliveries d, generate_series(1, 2) n
                """)
            let (_, viewer) = try await desk.member(.viewer)
            let (_, support) = try await desk.member(.support)
            let shown = try await desk.get("/admin/deliveries/1", viewer)
            let history = shown.object?.objects("history") ?? []
            #expect(history.count == 2 && history.first?.string("answer") == nil, "\(shown.body)")
            let last = try #require(history.last)
            #expect(last.string("answer") == "<b…" && last.string("outcome") == "http_500", "\(shown.body)")
            #expect(last.integer("milliseconds") == 12 && last.integer("status") == 500)
            #expect(try await desk.get("/admin/deliveries/1?open=true", viewer).status == 403)
            let place = try await desk.place()
            let opened = try await desk.get("/admin/deliveries/1?open=true", support)
            let said = opened.object?.objects("history")?.last?.string("answer")
            #expect(said == "<b>person-1</b> is unknown", "\(opened.body)")
            #expect(try await desk.rows(after: place).map(\.act) == ["open_personal_text"])
        }
    }

    @Test("An endpoint by itself has the share of its deliveries that arrived in 24 hours")
    func share() async throws {
        try await withDesk { desk in
            try await fill(desk)
            let (_, viewer) = try await desk.member(.viewer)
            try await desk.observer.query(
                """
                insert into storehook.deliveries (id, endpoint_id, event_id, told_at, sequence, outcome, attempts, status, ended_at)
                select n, case when n < 8 then 1 else 2 end, n, now(), n, 'delivered', 1, 204, now() - make_interval(hours => case n when 5 then 25 else 1 end)
                  from generate_series(2, 9) n
                """)
            let first = try await desk.get("/admin/endpoints/1", viewer).object
            #expect(first?.integer("recentDelivered") == 5 && first?.integer("recentDead") == 1)
            #expect(first?.integer("recentShare") == 83_333 && first?.bool("recentIsMore") == false)
            #expect(try await desk.get("/admin/endpoints/2", viewer).object?.integer("recentShare") == 100_000)
            #expect(try await desk.get("/admin/endpoints/3", viewer).status == 404)
        }
    }
}
