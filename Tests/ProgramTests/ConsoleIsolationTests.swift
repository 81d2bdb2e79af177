import Accounts
import Base
import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

/// A console shares the database with receivers and workers, and nothing else.
@Suite("Beside a console that fares badly", .serialized)
struct ConsoleIsolationTests {
    /// First purchases of customers of their own.
    /// - Parameter lanes: the customers.
    private static func posts(_ site: Site, _ lanes: ClosedRange<Int>) -> [String] {
        lanes.map { lane in
            var customer = SimulatedSubscriber(lane: lane, seed: UInt64(lane))
            customer.buy(.premiumMonthly, at: Site.now)
            return customer.takeNotifications()[0].signed(by: site.authority)
        }
    }

    /// Posts them: each is answered 200 and applied.
    private func expectApplied(_ texts: [String], _ site: Site, port: Int, while what: String) async throws {
        let before: Int64 = try await site.value(Self.applied)
        let sender = Sender(texts, port: port)
        await sender.run()
        #expect(sender.answered.count == texts.count, "while the console \(what)")
        try await site.untilDone()
        #expect(try await site.value(Self.applied) == before + Int64(texts.count), "while the console \(what)")
        let books = try await site.outbox.conservation()
        #expect(books.isWhole, "while the console \(what): \(books)")
    }

    private static let applied: PostgresQuery =
        "select count(*) from storehook.notifications where outcome = 'applied'"

    /// Runs a receiver and a worker while `body` lasts; neither may have had a fault then.
    private func withPipeline(_ body: (_ site: Site, _ port: Int) async throws -> Void) async throws {
        try await withSite { site in
            try await site.apply(catalog: shopCatalog)
            // What is inserted while the worker makes these has to be tried again.
            try await site.pool.query(
                "select storehook.ensure_outbox_partitions(3), storehook.ensure_event_partitions(3)")
            try await site.with(["receive", "--port", "0"]) { receiver in
                try await site.with(["work"]) { worker in
                    try await body(site, try #require(receiver.port))
                    for (name, program) in [("receiver", receiver), ("worker", worker)] {
                        #expect(program.ending == nil, "the \(name) has ended")
                        #expect(!program.errors.contains("SQLSTATE"), "\(name): \(program.errors)")
                    }
                }
            }
        }
    }

    @Test("that is flooded, and killed in the middle of that, all that is posted is answered 200 and applied")
    func flooded() async throws {
        try await withPipeline { site, receiver in
            try await expectApplied(Self.posts(site, 1...20), site, port: receiver, while: "is not there")
            let url = site.database.url
            let named = url + (url.contains("://") ? "&" : " ") + "application_name=desk"
            try await site.with(["console", "--port", "0"], ["DATABASE_URL": named]) { console in
                let port = try #require(console.port)
                let flood = Task { await Self.flood(port: port) }
                try await expectApplied(Self.posts(site, 21...80), site, port: receiver, while: "is flooded")
                // Those of --connections, the watch's and the checks', whatever is asked of it.
                let sessions: Int64 = try await site.value(
                    """
                    select count(*) from pg_stat_activity
                     where datname = current_database() and application_name = 'desk'
                    """)
                #expect(sessions >= 1 && sessions <= 6, "\(sessions)")
                console.signal(SIGKILL)
                await console.end()
                try await expectApplied(Self.posts(site, 81...120), site, port: receiver, while: "is killed")
                flood.cancel()
                await flood.value
            }
            // Another one begins where nothing is left of the first.
            try await site.with(["console", "--port", "0"]) { console in
                let api = ServedAPI(port: try #require(console.port))
                try await eventually("it answers") { try await api.send("/healthz").status == 200 }
            }
        }
    }

    /// Pages, wrong passwords, unknown tokens, and requests that never end, until it is cancelled.
    private static func flood(port: Int) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let (api, browser) = (ServedAPI(port: port), DeskBrowser(port: port))
                    while !Task.isCancelled {
                        switch number % 3 {
                        case 0: _ = try? await api.send("/admin/orders", token: "sht_\(UUID().uuidString)")
                        case 1: _ = try? await api.send("/?at=2026-01-01", [("Cookie", "storehook=\(number)")])
                        default:
                            _ = try? await browser.get("/login")
                            _ = try? await browser.post(
                                "/login", ["mail": "kim@example.com", "password": "wrong horse \(number)"])
                        }
                        // A console that is gone refuses at once.
                        try? await Task.sleep(for: .milliseconds(1))
                    }
                }
            }
            group.addTask {
                let held = try? await onThread {
                    try (0..<100).map { _ in
                        let socket = try TCPSocket(port: port)
                        try? socket.send("POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\na")
                        return socket
                    }
                }
                while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(50)) }
                for socket in held ?? [] { socket.close() }
            }
        }
    }

    @Test("that stands still in the middle of an act, the account's next purchase is answered 200 and applied")
    func hanging() async throws {
        try await withPipeline { site, receiver in
            var customer = SimulatedSubscriber(
                app: .example.in(.production), appAccountToken: AccountToken.of("bob").description, lane: 1000,
                seed: 1000)
            let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
            customer.buy(.basicMonthly, at: now - 120_000)
            let first = customer.takeNotifications().map { $0.signed(by: site.authority) }
            try await expectApplied(first, site, port: receiver, while: "is not there")
            #expect(try await site.run("staff", "add", "kim@example.com", "--role", "admin").ending == .exited(0))
            let made = try await site.run("staff", "token", "kim@example.com", "--format", "json")
            let token = try #require((try made.json() as? [String: Any])?["token"] as? String)
            // An act takes long enough to be stopped in the middle of it.
            try await site.pool.withTransaction { session in
                try session.executeScript(
                    """
                    create function public.dawdle() returns trigger language plpgsql as
                    $$ begin perform pg_sleep(2); return new; end $$;
                    create trigger dawdle before insert on storehook.staff_acts for each row execute function public.dawdle();
                    """)
            }
            try await site.with(["console", "--port", "0"]) { console in
                let api = ServedAPI(port: try #require(console.port))
                let asked = Task {
                    try? await api.send(
                        "/admin/subscriptions/bob/grant", token: token,
                        body: #"{"tier": "pro", "days": 30, "reason": "an outage"}"#)
                }
                try await eventually("the act is under way") {
                    try await site.value(
                        """
                        select count(*) = 1 from pg_stat_activity
                         where datname = current_database() and wait_event = 'PgSleep'
                        """)
                }
                try await console.pause()
                try await eventually("the act's transaction waits for the console") {
                    try await site.value(
                        """
                        select count(*) >= 1 from pg_stat_activity
                         where datname = current_database() and state = 'idle in transaction'
                           and query like '%storehook.staff_acts%'
                        """)
                }
                customer.buy(.premiumMonthly, at: now - 60_000)
                let texts = customer.takeNotifications().map { $0.signed(by: site.authority) }
                try await expectApplied(
                    texts + Self.posts(site, 1...20), site, port: receiver, while: "stands still")
                console.signal(SIGCONT)
                // PostgreSQL has rolled the act back meanwhile; at most it was done anew.
                _ = await asked.value
                #expect(try await site.value("select count(*) <= 1 from storehook.staff_acts", as: Bool.self))
                try await eventually("it goes on") { try await api.send("/healthz").status == 200 }
            }
        }
    }
}
