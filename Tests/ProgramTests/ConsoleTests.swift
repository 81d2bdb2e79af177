import Accounts
import AuditStore
import Base
import EvidenceStore
import Foundation
import Postgres
import Simulation
import TestSupport
import Testing

@testable import storehook

@Suite("storehook console", .serialized)
struct ConsoleTests {
    /// What has a past: paths, to be followed by an instant.
    private static let past = [
        "overview?", "audit?", "notes?by=staff:1&", "refund-requests?sort=due&", "refund-requests/RF-001?",
        "consumption-requests?sort=due&", "consumption-requests?account=alice&", "extensions?unfinished=true&",
        "extensions/1?", "jobs?state=done&", "jobs/1?", "jobs/1/results?", "deliveries?outcome=dead&", "deliveries/1?",
        "dead-letters?text=alf&", "dead-letters/3?", "orders?search=alice&", "orders?status=refunded&",
        "customers/alice?", "figures/net?in=none&", "figures/retention/rows?month=1&", "support/stats?",
        "subscriptions/stats/users?", "subscriptions/stats/usage?", "catalog?",
    ]

    @Test(
        "on another address than this machine's own does not start without TLS, its own or a proxy's, and says so in one line",
        arguments: ["0.0.0.0", "::", "192.0.2.1", "desk.example.com"])
    func clear(host: String) async throws {
        try await withSite { site in
            let outcome = try await site.run("console", "--host", host, "--port", "0")
            #expect(outcome.ending == .exited(2), "\(outcome)")
            #expect(outcome.errors.split(separator: "\n").count == 1)
            #expect(
                outcome.errors.contains("needs TLS") && outcome.errors.contains("--behind-tls"), "\(outcome.errors)")
        }
    }

    @Test(
        "starts on this machine's own addresses, and on all of them behind a proxy that speaks TLS",
        arguments: [[], ["--host", "localhost"], ["--host", "127.0.0.2"], ["--host", "0.0.0.0", "--behind-tls"]])
    func starts(arguments: [String]) async throws {
        try await withSite { site in
            try await site.with(["console", "--port", "0"] + arguments) { program in
                let port = try #require(program.port)
                #expect(port > 0)
            }
        }
    }

    @Test("answers 503 while the database is away, and is ready on its operations port")
    func ready() async throws {
        try await withSite { site in
            try await site.with(["console", "--port", "0", "--metrics-port", "0"]) { program in
                let api = ServedAPI(port: try await program.metricsPort())
                try await eventually("it is ready") { try await api.send("/readyz").status == 200 }
                let metrics = try await api.send("/metrics").body
                #expect(metrics.contains(#"storehook_api_requests_total{endpoint="listAudit",status="200"} 0"#))
                #expect(metrics.contains(#"storehook_api_refused_tokens_total{reason="staff_token"} 0"#))
            }
        }
    }

    /// Every act, in an order in which each can be done.
    private static let acts: [(String, String, String)] = [
        ("/admin/subscriptions/alice/grant", #""tier": "pro", "days": 30"#, "grant"),
        ("/admin/subscriptions/alice/extend", #""days": 3"#, "extend"),
        ("/admin/subscriptions/alice/change-tier", #""tier": "premium""#, "change_tier"),
        ("/admin/subscriptions/alice/revoke", "", "revoke"), ("/admin/subscriptions/alice/unrevoke", "", "unrevoke"),
        ("/admin/subscriptions/bob/extend", #""days": 3, "withApple": true"#, "request_extension"),
        ("/admin/extensions/1/close", "", "close_extension"),
        (
            "/admin/purchases/{purchase}/move",
            #""environment": "Production", "app": "com.example.storehook", "account": "carol""#, "move"
        ),
        ("/admin/staff", #""mail": "new@example.com", "role": "viewer""#, "add_staff"),
        ("/admin/staff/2/tokens", "", "add_staff_token"), ("/admin/staff/2/tokens/2/revoke", "", "revoke_staff_token"),
        ("/admin/staff/2/remove", "", "remove_staff"),
    ]

    @Test("does all that it is for as a user of its role alone, and the audit names the member of the staff")
    func role() async throws {
        try await withRoles { site in
            try await site.apply(catalog: shopCatalog)
            try await site.pool.query("select storehook.note_opened_texts('cli:x', 'x', 1, false, 'audit', 'texts')")
            let purchase = try await Self.purchase(site, of: "bob")
            let order = try await Self.order(site)
            try await site.outbox.store(["first", "second", "third"].map { Array($0.utf8) })
            try await site.with(["work"]) { _ in try await site.untilDone() }
            #expect(try await site.run("staff", "add", "kim@example.com", "--role", "admin").ending == .exited(0))
            let token = try await Self.token(site)
            try await Self.giveUp(site)
            let folder = FileManager.default.temporaryDirectory.appending(path: "storehook-key-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let more = [
                "STOREHOOK_SECRET_KEY_FILE": try makeSecretKey(in: folder.path),
                // All of it is asked at once.
                "STOREHOOK_REQUESTS_PER_ACCOUNT": "6000",
            ]
            try await withUser(in: "storehook_console", site) { user in
                try await site.with(["console", "--port", "0"], user.merging(more) { $1 }) { program in
                    let api = ServedAPI(port: try #require(program.port))
                    try await eventually("the token is known") {
                        try await api.send("/admin/audit", token: token).status == 200
                    }
                    for (path, members, act) in Self.acts {
                        let before = try await AuditLog(site.pool).tail().place
                        let answer = try await api.send(
                            path.replacing("{purchase}", with: purchase), token: token,
                            body: "{\(members)\(members.isEmpty ? "" : ", ")\"reason\": \"asked by mail\"}")
                        #expect([200, 202].contains(answer.status), "\(path): \(answer.body) \(program.errors)")
                        let rows = try await AuditLog(site.pool).rows(after: before, through: .max)
                        #expect(rows.map(\.act) == [act] && rows.first?.actor == "staff:1", "\(path): \(rows)")
                        #expect(rows.first?.login == "\(site.database.name)_user" && rows.first?.role == "admin")
                    }
                    let another = String(
                        decoding: try JSONEncoder().encode([
                            "catalog": shopCatalog + "\nwarning_days: 9\n", "reason": "why",
                        ]), as: UTF8.self)
                    let compared = try await api.send(
                        "/admin/catalog/diff?open=true", token: token,
                        body: another.replacing(/,?"reason":"why",?/, with: ""))
                    #expect(compared.status == 200, "\(compared.body) \(program.errors)")
                    for (path, body, act) in [
                        ("/admin/dead-letters/1/replay", #"{"reason": "why"}"#, "replay_dead_letters"),
                        ("/admin/dead-letters/2/discard", #"{"reason": "why"}"#, "discard_dead_letters"),
                        (
                            "/admin/jobs",
                            #"{"act": "discard", "filter": {"ids": [3]}, "upTo": 3, "confirmed": 1, "reason": "why"}"#,
                            "discard_dead_letters"
                        ), ("/admin/jobs/1/stop", #"{"reason": "why"}"#, "stop_job"),
                        ("/admin/endpoints/1/rotate", #"{"reason": "why"}"#, "rotate_endpoint"),
                        ("/admin/deliveries/1/resend", #"{"reason": "why"}"#, "resend_delivery"),
                        (
                            "/admin/orders/\(order)/refund-requests", #"{"type": "full", "reason": "why"}"#,
                            "create_refund_request"
                        ), ("/admin/refund-requests/RF-001/approve", #"{"note": "yes"}"#, "approve_refund_request"),
                        (
                            "/admin/refund-requests/RF-001/record",
                            #"{"reference": "bank 7", "amount": 1, "at": "2026-01-31"}"#, "record_refund"
                        ), ("/admin/notes", #"{"account": "alice", "note": "called"}"#, "add_note"),
                        ("/admin/catalog/apply", another, "apply_catalog"),
                    ] {
                        let before = try await AuditLog(site.pool).tail().place
                        let answer = try await api.send(path, token: token, body: body)
                        #expect([200, 201].contains(answer.status), "\(path): \(answer.body) \(program.errors)")
                        let rows = try await AuditLog(site.pool).rows(after: before, through: .max)
                        #expect(rows.map(\.act) == [act] && rows.first?.actor == "staff:1", "\(path): \(rows)")
                    }
                    let searched = try await api.send("/admin/search", token: token, body: #"{"text": "alice"}"#)
                    #expect(searched.status == 200, "\(searched.body) \(program.errors)")
                    let search = try #require(searched.object?["id"] as? String)
                    for (path, body) in [
                        ("/admin/filters", #"{"page": "jobs", "name": "failed", "qualifiers": {"state": "failed"}}"#),
                        ("/admin/filters/1/remove", "{}"),
                    ] {
                        let answer = try await api.send(path, token: token, body: body)
                        #expect([200, 201].contains(answer.status), "\(path): \(answer.body) \(program.errors)")
                    }
                    for path in [
                        "/admin/search/\(search)?open=true", "/admin/customers/alice?open=true", "/admin/filters",
                        "/admin/customers/bob?at=2026-01-31",
                        "/admin/overview", "/admin/dead-letters?text=alf", "/admin/dead-letters/3",
                        "/admin/dead-letters?resolution=discarded", "/admin/dead-letters/2?open=true",
                        "/admin/jobs?open=true", "/admin/jobs/1",
                        "/admin/jobs/1/results?format=csv", "/admin/orders?open=true", "/admin/orders?search=alice",
                        "/admin/orders?search=\(purchase)",
                        "/admin/orders?updatedSince=2026-01-01&tier=pro", "/admin/orders/\(order)?open=true",
                        "/admin/orders?account=carol", "/admin/refund-requests?open=true",
                        "/admin/refund-requests?sort=due", "/admin/consumption-requests?days=30&sort=due",
                        "/admin/extensions?unfinished=true", "/admin/notes?by=staff:1",
                        "/admin/refund-requests/RF-001", "/admin/figures/refund_rate?split=country",
                        "/admin/figures/net?by=day&split=product", "/admin/figures/heard_late/rows?in=EUR",
                        "/admin/figures/net?in=EUR&from=2020-01-01", "/admin/figures/mrr?split=plan",
                        "/admin/figures/purchase_failure_rate/rows", "/admin/figures/restore_success_rate/rows",
                        "/admin/figures/trials/rows", "/admin/figures/proceeds/rows?in=EUR",
                        "/admin/figures/retention/rows?month=0", "/admin/figures/retention",
                        "/admin/figures/lifetime_value/rows?month=0&in=EUR", "/admin/figures/lifetime_value",
                        "/admin/figures/lifetime_value?in=EUR", "/admin/figures/free_to_paid/rows",
                        "/admin/figures/free_to_paid",
                        "/admin/figures/orders/rows?format=csv", "/admin/orders/stats", "/admin/support/stats",
                        "/admin/subscriptions/stats/overview?environment=Production",
                        "/admin/subscriptions/stats/users?by=day&split=tier", "/admin/subscriptions/stats/usage",
                        "/admin/audit?open=true&reason=x", "/admin/subscriptions?open=true",
                        "/admin/staff?removed=true",
                        "/admin/staff/1", "/admin/due", "/admin/due/ends?age=6h&imported=true",
                        "/admin/notes?open=true", "/admin/notes?account=alice", "/admin/expiring?days=30&open=true",
                        "/admin/consumption-requests?days=30&state=open", "/admin/extensions?open=true",
                        "/admin/extensions/1?open=true", "/admin/endpoints?open=true", "/admin/deliveries?open=true",
                        "/admin/endpoints/1?open=true", "/admin/deliveries/1?open=true",
                        "/admin/purchases/\(purchase)/story", "/admin/figures/gross?format=csv",
                        "/admin/deliveries?account=alice&endpoint=1", "/admin/catalog", "/admin/health",
                        "/admin/subscriptions/alice?open=true", "/admin/subscriptions/bob?environment=Sandbox",
                        "/admin/subscriptions/carol", "/admin/audit?format=csv&open=true&reason=x",
                    ] {
                        let answer = try await api.send(path, token: token)
                        let expected = path.hasSuffix("Sandbox") ? 404 : 200
                        #expect(answer.status == expected, "\(path): \(answer.body) \(program.errors)")
                    }
                    for path in Self.past {
                        let answer = try await api.send("/admin/\(path)at=2126-01-01", token: token)
                        #expect(answer.status == 200, "\(path): \(answer.body) \(program.errors)")
                    }
                    #expect(
                        try await site.run("staff", "add", "kim@example.com", "--role", "viewer").ending == .exited(0))
                    let refused = try await api.send(
                        "/admin/staff", token: token, body: #"{"mail": "a@b", "role": "admin", "reason": "x"}"#)
                    #expect(refused.status == 403, "\(refused.body) \(program.errors)")
                    try await site.pool.query(
                        "update storehook.forbidden_tries set minute = minute - interval '1 minute'")
                    try await eventually("the try is on record") {
                        try await AuditLog(site.pool).list(.init(), after: nil, limit: 1).elements.first?.act
                            == "forbidden"
                    }
                }
            }
            #expect(try await AuditLog(site.pool).verify().fault == nil)
        }
    }

    @Test("is the only program with a user that may name a member of the staff: from others it is a name like any")
    func names() async throws {
        try await withRoles { site in
            try await site.apply(catalog: shopCatalog)
            #expect(try await site.run("staff", "add", "kim@example.com", "--role", "support").ending == .exited(0))
            let act: PostgresQuery = """
                insert into storehook.staff_acts (token, kind, tier, days, at, recorded_by, why)
                values (gen_random_uuid(), 'grant', 'pro', 1, now(), 'staff:1', 'why')
                """
            func actor(_ role: String, _ recordedBy: String? = nil) async throws -> (String, String) {
                try await withUser(in: role, site) { user in
                    let pool = PostgresPool(
                        configuration: try PostgresConfiguration(url: try #require(user["DATABASE_URL"])), size: 1,
                        logger: quiet)
                    do {
                        if let recordedBy {
                            try await pool.query(
                                "select storehook.note_opened_texts(\(recordedBy), 'x', 1, false, 'audit', 'texts')")
                        } else {
                            try await pool.query(act)
                        }
                        await pool.close()
                    } catch {
                        await pool.close()
                        throw error
                    }
                    let row = try #require(
                        try await AuditLog(site.pool).list(.init(), after: nil, limit: 1).elements.first)
                    return (row.actor, row.role)
                }
            }
            #expect(try await actor("storehook_ops") == ("cli:staff:1", "admin"))
            #expect(try await actor("storehook_console") == ("staff:1", "support"))
            #expect(try await actor("storehook_ops", "staff:1") == ("cli:staff:1", "admin"))
            #expect(try await actor("storehook_console", "staff:1") == ("staff:1", "support"))
            // No member has this number, and this is no number.
            #expect(try await actor("storehook_console", "staff:99") == ("cli:staff:99", "admin"))
            #expect(try await actor("storehook_console", "staff:1 and more").0 == "cli:staff:1 and more")
        }
    }

    /// What is typed here, in this order.
    static let documents = ["Console", "AdminAPI"].map(Document.chapter)

    @Test("has chapters that are typed as they stand, and each line does what is said")
    func chapter() async throws {
        let documents = try Self.documents.map { try Document($0) }
        #expect(documents.flatMap(\.blocks).filter(\.isTyped).flatMap(\.commands).count >= 9)
        try await withSite { site in
            try await site.apply(catalog: shopCatalog)
            try await withTemporaryDirectory { directory in
                try await site.with(["console", "--port", "0"]) { console in
                    let port = try #require(console.port)
                    var terminal = try DocumentTerminal(site, [:], directory, ports: [(shown: 8082, own: port)])
                    // It runs already.
                    terminal.replaced = [("storehook console --port 8082 &", "true")]
                    for document in documents {
                        try await terminal.type(document) { _, line, said in
                            if line.contains("/grant") { #expect(said.contains(#""tier":"pro""#), "\(said)") }
                            if line.contains("format=csv") { #expect(said.hasPrefix("place,at,actor,"), "\(said)") }
                        }
                    }
                    let rows = try await AuditLog(site.pool).rows(after: 0, through: .max)
                    #expect(rows.suffix(2).map(\.act) == ["grant", "extend"] && rows.suffix(2).allSatisfy(\.isProven))
                }
            }
        }
    }

    /// An endpoint, and a delivery to it that was given up.
    private static func giveUp(_ site: Site) async throws {
        try await site.pool.query(
            """
            insert into storehook.endpoints (id, url, created_by, changed_by, secret)
            values (1, 'https://example.com/1', 'cli:kim', 'cli:kim', decode(repeat('5ec2', 20), 'hex'))
            """)
        try await site.pool.query(
            "insert into storehook.endpoint_cursors (endpoint_id, position, queued_position) values (1, 100000, 100000)"
        )
        try await site.pool.query("insert into storehook.endpoint_health (endpoint_id) values (1)")
        try await site.pool.query(
            """
            insert into storehook.deliveries (id, endpoint_id, event_id, told_at, sequence, outcome, attempts, status, reason)
            select 1, 1, id, told_at, sequence, 'dead', 9, 500, 'http_500' from storehook.events order by id limit 1
            """)
    }

    /// A token of kim's.
    private static func token(_ site: Site) async throws -> String {
        let made = try await site.run("staff", "token", "kim@example.com", "--format", "json")
        return try #require((try made.json() as? [String: Any])?["token"] as? String)
    }

    /// The number of the only order there is.
    static func order(_ site: Site) async throws -> String {
        try await site.with(["work"]) { _ in
            try await eventually("the order has its number") {
                try await site.pool.query("select count(*) from storehook.booked_orders where number is not null")
                    .one().decode(0) == Int64(1)
            }
        }
        return try await site.pool.query("select storehook.order_number(day, number) from storehook.booked_orders")
            .one().decode(0)
    }

    /// A subscription that gives an account access, from now for a month.
    static func purchase(_ site: Site, of account: String) async throws -> String {
        var customer = SimulatedSubscriber(
            app: .example.in(.production),
            appAccountToken: AccountToken.of(account).description, lane: 1, seed: 1)
        customer.buy(.basicMonthly, at: Milliseconds(Int64(Date().timeIntervalSince1970 * 1000)) - 60_000)
        let told = customer.takeNotifications()[0]
        try await site.outbox.store([Array(told.signed(by: site.authority).utf8)])
        try await site.with(["work"]) { _ in try await site.untilDone() }
        return try await site.pool.query("select original_transaction_id from storehook.subscriptions").one().decode(0)
    }
}
