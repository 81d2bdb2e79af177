import AppStorePayloads
import AuditStore
import Base
import Foundation
import Operations
import Postgres
import Staff
import TestSupport
import Testing

@testable import ConsolePages

/// The pages of the service: what waits for a decision, and what becomes of it.
@Suite("Pages of the service")
struct ServicePageTests {
    private static let jws = [
        #"{"alg":"ES256"}"#, #"{"notificationType":"TEST","data":{"signedTransactionInfo":"e30.e30.x"}}"#, "x",
    ].map { String(decoding: Base64.url.encode(Array($0.utf8)), as: UTF8.self) }.joined(separator: ".")

    @Test("A letter is shown decoded with its attempts; its replay and its discard are one act each, on record")
    func letter() async throws {
        try await withPages { pages in
            let (first, second) = (try await pages.bury(Self.jws), try await pages.bury())
            let admin = try await pages.browser(.admin)
            let page = try await admin.get("/dead-letters/\(first)")
            expectWhole(page, "letter")
            for part in ["wrong_bundle", "here:1", "&quot;notificationType&quot;", "a message", Self.jws] {
                #expect(page.body.contains(part), "\(part): \(page.body)")
            }
            let place = try await pages.place()
            let empty = try await admin.post("/dead-letters/\(first)/act", ["what": "replay"])
            #expect(empty.status == 400 && empty.body.contains("say why"), "\(empty.body)")
            let replayed = try await admin.post(
                "/dead-letters/\(first)/act", ["what": "replay", "reason": "repaired"])
            #expect(replayed.location == "/dead-letters/\(first)?done=replay", "\(replayed.body)")
            let after = try await admin.get(replayed.location ?? "-")
            #expect(after.body.contains("The letter is back on the queue.") && after.body.contains("Replayed"))
            #expect(!after.body.contains("value=\"replay\""), "nothing is left to be done")
            let discarded = try await admin.post(
                "/dead-letters/\(second)/act", ["what": "discard", "reason": "junk"])
            #expect(discarded.status == 303, "\(discarded.body)")
            let again = try await admin.post(
                "/dead-letters/\(second)/act", ["what": "discard", "reason": "junk"])
            #expect(again.status == 409, "\(again.body)")
            let acts = try await pages.rows(after: place).map(\.act)
            #expect(acts == ["replay_dead_letters", "discard_dead_letters"], "\(acts)")
            #expect(try await admin.get("/dead-letters").body.contains("No letters."))
            #expect(try await admin.get("/dead-letters?resolution=discarded").body.contains(">\(second)<"))
        }
    }

    @Test("A dry run is a job, whose page says what a replay would do; support may ask for it, viewers may not")
    func rehearsal() async throws {
        try await withPages { pages in
            let letter = try await pages.bury()
            let support = try await pages.browser(.support)
            _ = try await support.get("/dead-letters/\(letter)")
            async let asked = support.post("/dead-letters/\(letter)/act", ["what": "rehearse"])
            try await eventually("there is a job") { try await pages.jobService.work() }
            let place = try #require(try await asked.location)
            let page = try await support.get(place)
            expectWhole(page, place)
            #expect(page.body.contains("What a replay would do") && page.body.contains("Done"), "\(page.body)")
            let viewer = try await pages.browser(.viewer)
            let seen = try await viewer.get("/dead-letters/\(letter)")
            #expect(seen.status == 200 && !seen.body.contains("value=\"rehearse\""))
            #expect(try await viewer.post("/dead-letters/\(letter)/act", ["what": "rehearse"]).status == 403)
        }
    }

    @Test("An act on all that match asks for their number, does nothing where another number match, and can be stopped")
    func jobs() async throws {
        try await withPages { pages in
            for _ in 0..<3 { try await pages.bury() }
            let admin = try await pages.browser(.admin)
            let list = try await admin.get("/dead-letters?reason=wrong_bundle")
            expectWhole(list, "letters")
            #expect(list.body.contains("All 3 letters that match"), "\(list.body)")
            var form = try #require(HTMLJudge(list.body).sent(to: "/letter-jobs"))
            form.merge(["act": "discard", "confirmed": "2", "reason": "junk"]) { _, own in own }
            let place = try await pages.place()
            let other = try await admin.post("/letter-jobs", form)
            #expect(other.status == 409, "\(other.body)")
            #expect(try await pages.rows(after: place).isEmpty)
            form["confirmed"] = "3"
            let made = try await admin.post("/letter-jobs", form)
            let job = try #require(made.location)
            #expect(job.hasPrefix("/jobs/"), "\(job)")
            let page = try await admin.get(job)
            expectWhole(page, job)
            #expect(page.body.contains("Waiting") && page.body.contains("wrong_bundle"), "\(page.body)")
            // By scripts it goes on until its state is another one; without, a link shows how far it is.
            let id = job.dropFirst("/jobs/".count)
            for part in [
                "data-stream=\"/admin/overview/stream\"", "data-while=\"jobs.\(id).state\"", "data-is=\"waiting\"",
                "data-place=\"\(job)\"", "data-live=\"jobs.\(id).done\"", "<a href=\"\(job)\">Look again</a>",
            ] {
                #expect(page.body.contains(part), "\(part): \(page.body)")
            }
            // Of an instant it stands still.
            let now: PostgresTimestamp = try await pages.observer.query("select clock_timestamp()").one().decode(0)
            let then = try await admin.get("\(job)?at=\(Timestamp(now))")
            expectWhole(then, job)
            #expect(then.body.contains("Waiting") && !then.body.contains("data-stream"), "\(then.body)")
            #expect(!then.body.contains("data-while") && !then.body.contains("Look again"), "\(then.body)")
            #expect(try await admin.post("\(job)/stop", ["reason": "not yet"]).location == job)
            #expect(try await pages.jobService.work())
            let stopped = try await admin.get(job)
            #expect(stopped.body.contains("Stopped") && !stopped.body.contains("data-while"), "\(stopped.body)")
            #expect(!stopped.body.contains("data-stream") && !stopped.body.contains("Look again"))
            #expect(try await admin.get("/jobs?state=stopped").body.contains("\(job)\""))
            #expect(try await pages.rows(after: place).map(\.act) == ["discard_dead_letters", "stop_job"])
        }
    }

    @Test("A list that did not look through all says so and leads on, and an act on a part is called one")
    func part() async throws {
        try await withPages { pages in
            try await pages.observer.query(
                """
                insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts)
                select 1000000 + n, now(), 'unverified', 'malformed', case when n in (1, 10050) then 'a needle' else 'hay' end, 1
                  from generate_series(1, 10050) n
                """)
            let admin = try await pages.browser(.admin)
            let list = try await admin.get("/dead-letters?text=needle")
            expectWhole(list, "letters")
            #expect(list.body.contains("Looked through 10,000 rows"), "\(list.body)")
            #expect(list.body.contains("1 letters that match, among the newest 10,000"), "\(list.body)")
            let next = try #require(HTMLJudge(list.body).links.first { $0.contains("after=") })
            let rest = try await admin.get(next)
            #expect(!rest.body.contains("Looked through") && rest.body.contains("malformed"), "\(rest.body)")
            var form = try #require(HTMLJudge(list.body).sent(to: "/letter-jobs"))
            form.merge(["act": "discard", "confirmed": "1", "reason": "junk"]) { _, own in own }
            let job = try #require(try await admin.post("/letter-jobs", form).location)
            let page = try await admin.get(job)
            expectWhole(page, job)
            #expect(page.body.contains("Letters of older evidence were not looked through"), "\(page.body)")
        }
    }

    @Test("Lists show what workers and Apple left: what was due, what Apple asks, extensions, endpoints and deliveries")
    func lists() async throws {
        try await withPages { pages in
            let admin = try await pages.browser(.admin)
            _ = try await pages.fill(by: admin)
            try await pages.fillService(by: admin)
            for (place, parts) in [
                ("/due", ["50001", "6 to 24 hours", "Paid period"]), ("/due?age=older", ["Nothing."]),
                ("/consumption-requests", ["UNINTENDED_PURCHASE", "10001.0", "Open"]),
                ("/consumption-requests?sort=due", ["UNINTENDED_PURCHASE", " h left"]),
                ("/refund-requests?sort=due", ["RF-001", "Has waited", "0 min"]),
                ("/refund-requests/RF-001", ["Apple has asked about this transaction"]),
                ("/extensions", ["Taken on by Apple", "10001", "cli:kim"]),
                ("/extensions?unfinished=true", ["Taken on by Apple"]),
                ("/extensions/1", ["request-1", "Give it up"]),
                ("/endpoints", ["https://example.com/1", "Disabled"]),
                ("/endpoints/1", ["https://example.com/1", "0.0", "Give it a new secret"]),
                ("/deliveries/1", ["evt_77", "http_500", "Send it again"]),
                ("/deliveries?outcome=dead", ["evt_77", "http_500", "Given up"]),
                ("/expiring?days=3650", ["Access ends soon"]), ("/notes", ["Notes"]), ("/health", ["Checked"]),
            ] {
                let page = try await admin.get(place)
                expectWhole(page, place)
                for part in parts { #expect(page.body.contains(part), "\(place), \(part): \(page.body)") }
                for text in ["5ec2", "a complaint of", "moving to another", "called about"] {
                    #expect(!page.body.contains(text), "\(place) shows \(text)")
                }
            }
            for (place, text) in [
                ("/extensions/1", "a complaint of person-1"), ("/endpoints", "moving to another host"),
                ("/notes", "called about the invoice"),
            ] {
                let before = try await pages.place()
                #expect(try await admin.post(place).body.contains(text), "\(place)")
                #expect(try await pages.rows(after: before).map(\.act) == ["open_personal_text"], "\(place)")
            }
            let before = try await pages.place()
            #expect(try await admin.post("/extensions/1/close", ["reason": "settled"]).location == "/extensions/1")
            #expect(try await admin.get("/extensions/1").body.contains("Given up"))
            #expect(try await pages.rows(after: before).map(\.act) == ["close_extension"])
        }
    }

    @Test("A note is added from a customer's notes, and is personal; staff of some apps have no notes")
    func notes() async throws {
        try await withPages { pages in
            let support = try await pages.browser(.support)
            try await pages.order(1)
            let place = "/notes?account=token%3A\(Shop.token(1))"
            expectWhole(try await support.get(place), place)
            let path = "/customers/\(Shop.token(1))/notes?account=token%3A\(Shop.token(1))"
            let blank = try await support.post(path, ["note": " "])
            #expect(blank.status == 400, "\(blank.body)")
            let added = try await support.post(path, ["note": "<b>called</b>"])
            #expect(added.location == place, "\(added.body)")
            #expect(!(try await support.get(place).body.contains("called")))
            #expect(try await support.post(place).body.contains("&lt;b&gt;called&lt;/b&gt;"))
            let some = try await pages.browser(.support, of: [Shop.app])
            #expect(try await some.get("/notes").status == 403)
            #expect(!(try await some.get("/customers").body.contains("href=\"/notes\"")))
        }
    }

    @Test("Another catalog is compared, then applied with a reason; one that cannot be used says where")
    func catalog() async throws {
        try await withPages { pages in
            let admin = try await pages.browser(.admin)
            try await pages.order(1)
            let page = try await admin.get("/catalog")
            expectWhole(page, "/catalog")
            #expect(page.body.contains("com.example.other"), "\(page.body)")
            let broken = try await admin.post("/catalog", ["catalog": "tiers: 7"])
            #expect(broken.status == 422 && broken.body.contains("What cannot be used"), "\(broken.body)")
            let other = Shop.catalog.replacing("tier: pro", with: "tier: premium")
            let before = try await pages.place()
            // As browsers end the lines of a text.
            let diff = try await admin.post("/catalog", ["catalog": other.replacing("\n", with: "\r\n")])
            expectWhole(diff, "diff")
            #expect(diff.status == 200 && diff.body.contains("Accounts with another tier"), "\(diff.body)")
            #expect(try await pages.rows(after: before).isEmpty)
            var form = try #require(HTMLJudge(diff.body).sent(to: "/catalog/apply"))
            let empty = try await admin.post("/catalog/apply", form)
            #expect(empty.status == 400, "\(empty.body)")
            form["reason"] = "another tier"
            let applied = try await admin.post("/catalog/apply", form)
            #expect(applied.location == "/catalog?done=2", "\(applied.body)")
            #expect(try await admin.get("/catalog?done=2").body.contains("Version 2 is current."))
            #expect(try await pages.rows(after: before).map(\.act) == ["apply_catalog"])
            let some = try await pages.browser(.admin, of: [Shop.app])
            #expect(try await some.get("/catalog").status == 403)
            #expect(!(try await some.get("/dead-letters").body.contains("href=\"/catalog\"")))
        }
    }
}
