import AppStorePayloads
import Base
import EventStore
import Events
import Foundation
import Logging
import NIOSSL
import Postgres
import Synchronization
import TestSupport
import Testing
import WebhookSupport

@testable import Monitoring
@testable import Webhooks

@Suite("Deliveries")
struct DeliveryTests {
    @Test(
        "the public Python package verifies every delivery; while a secret is replaced, with the new one and with each former one"
    )
    func verified() async throws {
        let library = try await pythonPackage("standardwebhooks")
        try await EndpointSite.with { site in
            let receiver = try await WebhookReceiver.start { $0.number.isMultiple(of: 4) ? .status(503) : .status(200) }
            let (old, middle, new, other) = (WebhookSecret(), WebhookSecret(), WebhookSecret(), WebhookSecret())
            let endpoint = try await site.add("http://127.0.0.1:\(receiver.port)/hook", secret: old)
            var before = 0
            try await RunningWebhooks.with(site) {
                for account in 1...10 { try await site.write(2, of: account) }
                try await site.untilEnded(20)
                before = receiver.posts.count
                for secret in [middle, new] {
                    _ = try await site.store.rotate(
                        endpoint.id, to: secret, overlap: .seconds(3600), site.key, by: "test")
                }
                // What changes is heeded within a second.
                try await eventually("deliveries carry all signatures") {
                    try await site.write(of: 1)
                    return receiver.posts.last?.headers["webhook-signature"]?.split(separator: " ").count == 3
                }
                for account in 1...10 { try await site.write(2, of: account) }
                let told: Int64 = try await site.value("select count(*) from storehook.events")
                try await site.untilEnded(Int(told))
            }
            let posts = receiver.posts
            let first = posts.prefix(before)
            let rotated = posts.filter { $0.headers["webhook-signature"]?.split(separator: " ").count == 3 }
            #expect(first.count > 20 && rotated.count > 20 && rotated.allSatisfy { $0.number >= before })
            #expect(
                try await Self.words(Array(first), old, library) == Array(repeating: "verified", count: first.count))
            for secret in [old, middle, new] {
                let words = try await Self.words(rotated, secret, library)
                #expect(words == Array(repeating: "verified", count: rotated.count))
            }
            #expect(try await Self.words(rotated, other, library) == Array(repeating: "refused", count: rotated.count))
            // The id stays over attempts.
            #expect(Set(posts.map(\.id)).count < posts.count)
            #expect(posts.allSatisfy { $0.id.wholeMatch(of: /evt_[0-9]+/) != nil && $0.line == "POST /hook" })
        }
    }

    private static func words(
        _ posts: [WebhookReceiver.Post], _ secret: WebhookSecret, _ library: String
    ) async throws -> [String] {
        let cases = posts.map { ["secret": secret.text, "body": $0.body, "headers": $0.headers] as [String: Any] }
        let argument = String(decoding: try JSONSerialization.data(withJSONObject: cases), as: UTF8.self)
        let script = packageRoot.appending(path: "Tests/EndpointsTests/webhooks_library.py").path
        return try await ChildProgram.run(library + "/bin/python", [script, argument])
            .split(whereSeparator: \.isWhitespace).map { String($0) }
    }

    @Test(
        "a receiver that fails a third of its calls, is slow and closes connections gets each account's events in order, none missing"
    )
    func faultyReceiver() async throws {
        try await EndpointSite.with { site in
            let receiver = try await WebhookReceiver.start { post in
                switch post.number % 9 {
                case 1: .status(500)
                case 4: .close
                case 7: .slow(.milliseconds(30), 503)
                case 2: .slow(.milliseconds(50), 200)
                default: .status(204)
                }
            }
            try await site.add("http://127.0.0.1:\(receiver.port)/")
            let (accounts, rounds) = (12, 10)
            try await RunningWebhooks.with(site, workers: 3) {
                for round in 0..<rounds {
                    for account in 1...accounts { try await site.write(1 + round % 2, of: account) }
                }
                try await site.untilEnded(accounts * rounds * 3 / 2)
            }
            let taken = receiver.posts.filter { [200, 204].contains($0.status) }
            for account in 1...accounts {
                let token = EndpointSite.token(account).uuidString.lowercased()
                let own = taken.filter { ($0.data("account") as? String)?.lowercased() == token }
                let sequences = own.compactMap { $0.data("sequence") as? Int }
                #expect(sequences == Array(1...(rounds * 3 / 2)))
                let previous = own.map { $0.data("previousSequence") as? Int }
                #expect(previous == [nil] + Array(1..<(rounds * 3 / 2)).map { Optional($0) })
            }
            #expect(
                try await site.value("select count(*) from storehook.deliveries where outcome = 'dead'") == 0 as Int64)
        }
    }

    @Test("one endpoint that is away holds up no other, and when it is back it catches up in order")
    func away() async throws {
        try await EndpointSite.with { site in
            let (well, ill, silent) = (
                try await WebhookReceiver.start(), try await WebhookReceiver.start { _ in .status(500) },
                try await WebhookReceiver.start { _ in .silence }
            )
            try await site.add("http://127.0.0.1:\(well.port)/")
            let away = try await site.add("http://127.0.0.1:\(ill.port)/", rate: .most(500))
            let hanging = try await site.add("http://127.0.0.1:\(silent.port)/")
            let (accounts, rounds) = (20, 5)
            try await RunningWebhooks.with(
                site, workers: 2, limits: EndpointCaller.Limits(total: .seconds(10))
            ) {
                for _ in 0..<rounds { for account in 1...accounts { try await site.write(of: account) } }
                // All of it arrives while the others have not even given up their first calls.
                try await eventually("the endpoint that works gets everything") {
                    well.posts.count >= accounts * rounds
                }
                try await eventually("the endpoint that fails is paused") {
                    try await site.store.find(away.id)?.state == .paused
                }
                #expect(silent.posts.allSatisfy { $0.status == nil })
                #expect(try await site.store.find(hanging.id)?.failures == 0)
                ill.answer { _ in .status(204) }
                try await site.pool.query(
                    "update storehook.endpoint_health set probe_at = now() where probe_at is not null")
                try await eventually("the endpoint that is back gets everything") {
                    Set(ill.posts.filter { $0.status == 204 }.map(\.id)).count == accounts * rounds
                }
                #expect(try await site.store.find(away.id)?.state == .enabled)
                _ = try await site.store.disable(hanging.id, why: "over", by: "test")
                silent.answer { _ in .status(204) }
                try await silent.stop()
            }
            for account in 1...accounts {
                let token = EndpointSite.token(account).uuidString.lowercased()
                let own = ill.posts.filter {
                    $0.status == 204 && ($0.data("account") as? String)?.lowercased() == token
                }
                #expect(own.compactMap { $0.data("sequence") as? Int } == Array(1...rounds))
            }
        }
    }

    @Test(
        "what fails as often as the schedule has it is dead, and the account's next one follows; it can be sent again")
    func dead() async throws {
        try await EndpointSite.with { site in
            let poisoned = EndpointSite.token(1).uuidString.lowercased()
            let receiver = try await WebhookReceiver.start { post in
                let isPoison =
                    (post.data("account") as? String)?.lowercased() == poisoned && post.data("sequence") as? Int == 1
                return .status(isPoison ? 422 : 204)
            }
            let endpoint = try await site.add("http://127.0.0.1:\(receiver.port)/")
            let schedule = RetrySchedule.listed([Duration](repeating: .milliseconds(10), count: 3))
            try await RunningWebhooks.with(site, schedule: schedule) {
                try await site.write(2, of: 1)
                try await site.write(5, of: 2)
                try await site.untilEnded(7)
                let dead = try #require(
                    try await site.store.deliveries(EventSelection(), outcome: .dead, limit: 10).elements.first)
                #expect(dead.attempts == 4 && dead.reason == "http_422" && dead.status == 422 && dead.sequence == 1)
                receiver.answer { _ in .status(204) }
                #expect(try await site.store.resendDead(EventSelection(endpointID: endpoint.id), by: "cli:test") == 1)
                try await site.untilEnded(8)
                #expect(receiver.posts.count { $0.id == Delivery.webhookID(dead.eventID) } == 5)
            }
            let own = receiver.posts.filter { ($0.data("account") as? String)?.lowercased() == poisoned }
            #expect(own.compactMap { $0.data("sequence") as? Int } == [1, 1, 1, 1, 2, 1])
        }
    }

    @Test("an endpoint that answers 410 is called no more, and what waits for it stays")
    func gone() async throws {
        try await EndpointSite.with { site in
            let receiver = try await WebhookReceiver.start { _ in .status(410) }
            let id = try await site.add("http://127.0.0.1:\(receiver.port)/", inFlight: 1).id
            try await site.write(3, of: 1)
            try await RunningWebhooks.with(site) {
                try await eventually("the endpoint is disabled") {
                    try await site.store.find(id)?.state == .disabled
                }
            }
            #expect(receiver.posts.count == 1)
            #expect(try await site.store.find(id)?.reason == "gone")
            #expect(try await site.value("select count(*) from storehook.deliveries_pending") == 3 as Int64)
        }
    }

    @Test("a worker that is told to stop finishes its calls and records them")
    func stop() async throws {
        try await EndpointSite.with { site in
            let receiver = try await WebhookReceiver.start { _ in .slow(.milliseconds(200), 204) }
            try await site.add("http://127.0.0.1:\(receiver.port)/")
            for account in 1...8 { try await site.write(of: account) }
            try await RunningWebhooks.with(site) {
                try await eventually("calls are under way") { !receiver.posts.isEmpty }
            }
            let ended: Int64 = try await site.value("select count(*) from storehook.deliveries")
            #expect(ended == Int64(receiver.posts.count))
            let leased: Int64 = try await site.value(
                "select count(*) from storehook.delivery_queue where lease_token is not null")
            #expect(leased == 0)
        }
    }

    @Test("over TLS, with what came of each call and how long it took counted")
    func metrics() async throws {
        try await EndpointSite.with { site in
            let certificate = try ServerCertificate()
            let receiver = try await WebhookReceiver.start(certificate) { $0.number == 0 ? .status(500) : .status(200) }
            let id = try await site.add("https://localhost:\(receiver.port)/").id
            let registry = MetricsRegistry(MetricFamily.storehook)
            try await RunningWebhooks.with(
                site, roots: try NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8)),
                metrics: WebhookMetrics(registry)
            ) {
                try await site.write(3, of: 1)
                try await site.untilEnded(3)
            }
            let page = registry.exposition(with: [])
            #expect(page.contains(#"storehook_deliveries_total{endpoint="\#(id)",outcome="delivered"} 3"#))
            #expect(page.contains(#"storehook_deliveries_total{endpoint="\#(id)",outcome="failed"} 1"#))
            #expect(page.contains(#"storehook_deliveries_total{endpoint="\#(id)",outcome="dead"} 0"#))
            #expect(page.contains("storehook_delivery_seconds_count 3"))
            #expect(page.contains("storehook_delivery_call_seconds_count 4"))
        }
    }

    @Test("neither secrets nor what events tell are logged")
    func logs() async throws {
        try await EndpointSite.with { site in
            let log = RecordedLog()
            let receiver = try await WebhookReceiver.start { _ in .status(500) }
            let secret = WebhookSecret()
            let id = try await site.add("http://127.0.0.1:\(receiver.port)/path-with-a-token", secret: secret).id
            for account in 1...12 { try await site.write(of: account) }
            try await RunningWebhooks.with(site, logger: log.logger) {
                try await eventually("the endpoint is paused, and that is said") {
                    try await site.store.find(id)?.state == .paused && log.text.contains("only probed")
                }
            }
            for hidden in [
                secret.text, String(secret.text.dropFirst(6)), "path-with-a-token", EndpointSite.token(1).uuidString,
            ] {
                #expect(!log.text.lowercased().contains(hidden.lowercased()))
            }
        }
    }
}
