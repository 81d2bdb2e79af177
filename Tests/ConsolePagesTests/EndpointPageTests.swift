import AdminAPI
import AuditStore
import Base
import EventStore
import Foundation
import Postgres
import Staff
import TestSupport
import Testing

@testable import ConsolePages

/// What is done to endpoints and deliveries from their pages.
@Suite("Pages of endpoints")
struct EndpointPageTests {
    @Test("A new secret is shown on the answer to the form alone, and its reason is asked for")
    func rotate() async throws {
        try await withPages { pages in
            try await pages.deliver()
            let admin = try await pages.browser(.admin)
            _ = try await admin.get("/endpoints/1")
            let place = try await pages.place()
            let empty = try await admin.post("/endpoints/1/rotate", ["hours": "24"])
            #expect(empty.status == 400 && empty.body.contains("say why"), "\(empty.body)")
            let form = ["hours": "24", "reason": "it leaked", "once": "a-form"]
            let made = try await admin.post("/endpoints/1/rotate", form)
            expectWhole(made, "rotated")
            let secret = try #require(made.body.firstMatch(of: /whsec_[A-Za-z0-9+\/=]+/)?.output)
            #expect(!(try await admin.get("/endpoints/1").body.contains(secret)))
            // The same form again, as a reload sends it, makes no other secret.
            #expect(try await admin.post("/endpoints/1/rotate", form).location == "/endpoints/1")
            #expect(try await pages.rows(after: place).map(\.act) == ["rotate_endpoint"])
            let support = try await pages.browser(.support)
            #expect(!(try await support.get("/endpoints/1").body.contains("/rotate\"")))
        }
    }

    @Test("Without the key of secrets the page has no form for a new one, and says why")
    func keyless() async throws {
        for (secrets, words) in [
            (EndpointSecrets(nil), "This console has no key for secrets"),
            (EndpointSecrets(nil, isNamed: true), "cannot use the key that its settings name"),
        ] {
            try await withPages(secrets: secrets) { pages in
                try await pages.deliver()
                let admin = try await pages.browser(.admin)
                let page = try await admin.get("/endpoints/1")
                expectWhole(page, "keyless")
                #expect(page.body.contains(words) && page.body.contains("storehook endpoints rotate 1"), "\(page.body)")
                #expect(page.body.contains("/endpoints/1/test\"") && !page.body.contains("/endpoints/1/rotate\""))
                let sent = try await admin.post("/endpoints/1/rotate", ["hours": "24", "reason": "it leaked"])
                #expect(sent.status == 409 && sent.body.contains(words), "\(sent.body)")
                let support = try await pages.browser(.support)
                #expect(!(try await support.get("/endpoints/1").body.contains(words)))
            }
        }
    }

    @Test("What is counted for an endpoint has a bound, which is said")
    func bound() async throws {
        try await withPages { pages in
            try await pages.deliver()
            try await pages.observer.query(
                """
                insert into storehook.deliveries (id, endpoint_id, event_id, told_at, sequence, outcome, attempts, status, reason)
                select 1000 + n, 1, n, now(), n, 'dead', 9, 500, 'http_500' from generate_series(1, 10050) n
                """)
            let viewer = try await pages.browser(.viewer)
            for place in ["/endpoints", "/endpoints/1"] {
                let page = try await viewer.get(place)
                expectWhole(page, place)
                #expect(page.body.contains("more than 10,000"), "\(page.body)")
            }
        }
    }

    @Test("A test shows what came back to the worker that made it")
    func trial() async throws {
        try await withPages { pages in
            try await pages.deliver()
            let admin = try await pages.browser(.admin)
            _ = try await admin.get("/endpoints/1")
            let store = EndpointStore(pages.observer)
            async let answer = admin.post("/endpoints/1/test", ["reason": "a new receiver"])
            try await eventually("a worker takes it") {
                guard let asked = try await store.takeTrials(atMost: 1).first else { return false }
                try await store.settle(
                    asked,
                    AskedTrial.Outcome(
                        webhookID: "evt_9", isDelivered: true, code: "http_204", status: 204, milliseconds: 7,
                        message: "answered 204"))
                return true
            }
            let page = try await answer
            expectWhole(page, "tested")
            for part in ["The endpoint accepted the event.", "http_204", "evt_9", "answered 204"] {
                #expect(page.body.contains(part), "\(part): \(page.body)")
            }
        }
    }

    @Test("A delivery's page shows what the endpoint said to each call: a text, shortened until it is opened")
    func answers() async throws {
        try await withPages { pages in
            try await pages.deliver()
            try await pages.observer.query(
                """
                insert into storehook.delivery_attempts (delivery_id, event_id, attempted_at, milliseconds, code, status, answer)
                values (1, 77, now(), 12, 'http_500', 500, '<script>alert(1)</script> person-1')
                """)
            let support = try await pages.browser(.support)
            let page = try await support.get("/deliveries/1")
            expectWhole(page, "delivery")
            #expect(page.body.contains("http_500") && page.body.contains("&lt;s…"), "\(page.body)")
            #expect(!page.body.contains("person-1"))
            let opened = try await support.post("/deliveries/1")
            expectWhole(opened, "opened")
            #expect(opened.body.contains("&lt;script&gt;alert(1)&lt;/script&gt; person-1"), "\(opened.body)")
        }
    }

    @Test("A delivery that was given up is sent again once, also where the form is sent twice")
    func resend() async throws {
        try await withPages { pages in
            try await pages.deliver()
            try await pages.observer.query(
                """
                insert into storehook.events
                       (told_at, id, kind, environment, token, sequence, version, at, is_late, is_correction, content)
                select told_at, event_id, 'account.access_changed', 'Production', \(UUID(Shop.token(1))), 1, 1, now(), false, false, '{}'
                  from storehook.deliveries where id = 1
                """)
            let admin = try await pages.browser(.admin)
            let page = try await admin.get("/deliveries/1")
            expectWhole(page, "delivery")
            var form = try #require(HTMLJudge(page.body).sent(to: "/deliveries/1/resend"))
            form["reason"] = "repaired"
            let place = try await pages.place()
            for _ in 0..<2 {
                let sent = try await admin.post("/deliveries/1/resend", form)
                #expect(sent.location == "/deliveries/1?done=resend", "\(sent.body)")
            }
            #expect(try await admin.get("/deliveries/1?done=resend").body.contains("It is sent again"))
            #expect(try await pages.rows(after: place).map(\.act) == ["resend_delivery"])
            form["once"] = "another"
            #expect(try await admin.post("/deliveries/1/resend", form).status == 409)
        }
    }
}
