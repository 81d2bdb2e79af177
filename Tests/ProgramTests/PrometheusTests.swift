import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import Simulation
import TestSupport
import Testing

/// GETs a page.
func fetch(_ url: String) async throws -> (status: UInt, body: String) {
    let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(60))
    return (response.status.code, String(buffer: try await response.body.collect(upTo: 1 << 20)))
}

/// What deploy/ brings for Prometheus and Grafana, held against programs that run.
@Suite("Under a real Prometheus", .serialized)
struct PrometheusTests {
    private static var deploy: URL { PrometheusServer.deploy }

    private func promtool(_ arguments: [String], input: String = "") async throws -> (succeeds: Bool, said: String) {
        let program = try ChildProgram(
            try PrometheusServer.executable("promtool"), arguments, environment: ["PATH": "/usr/bin:/bin"],
            input: Array(input.utf8))
        let ending = await program.end()
        let said = program.output + program.errors
        await program.discard()
        return (ending == .exited(0), said)
    }

    @Test("promtool is content with the rules, and each alert fires when it should and only then")
    func rules() async throws {
        let directory = Self.deploy.appending(path: "prometheus").path
        for arguments in [
            ["check", "rules", "--lint=all", "\(directory)/rules.yml"],
            ["test", "rules", "\(directory)/rules_test.yml"],
            ["check", "config", "--lint=all", "\(directory)/prometheus.yml"],
        ] {
            let (succeeds, said) = try await promtool(arguments)
            #expect(succeeds, "\(arguments): \(said)")
        }
    }

    @Test("every alert has its words, an anchor of its own in the runbook, and a test")
    func annotations() throws {
        let rules = try text("prometheus/rules.yml")
        let tests = try text("prometheus/rules_test.yml")
        let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.1) }
        #expect(alerts.count >= 12)
        for alert in alerts {
            #expect(rules.contains("runbook_url: deploy/runbook.md#\(alert.lowercased())\n"), "\(alert)")
            #expect(tests.contains("alertname: \(alert), exp_alerts: []"), "\(alert) not firing")
            #expect(
                tests.contains("alertname: \(alert)\n        exp_alerts:\n          - exp_labels"), "\(alert) firing")
        }
        for word in ["summary: ", "description: ", "severity: "] {
            #expect(rules.matches(of: try Regex(word)).count >= alerts.count, "\(word)")
        }
    }

    @Test("all programs are scraped, every query of the dashboard works, and an alert comes through")
    func scrapes() async throws {
        try await withSite { site in
            // As a worker with a key leaves it.
            try await site.pool.query(
                "select storehook.plan_history(array['org.example'], array['Sandbox'], interval '0', false)")
            try await site.pool.query(
                """
                update storehook.history_windows
                   set askings = 1, first_asked_at = now(), asked_at = now(), proven_at = now()
                """)
            try await site.pool.query(
                "insert into storehook.canaries (bundle_id, environment) values ('org.example', 'Sandbox')")
            try await site.pool.query(
                """
                insert into storehook.extensions
                       (bundle_id, environment, request_identifier, original_transaction_id, days, reason_code, requested_by)
                values ('org.example', 'Sandbox', 'a', '1', 1, 0, 'somebody')
                """)
            try await site.pool.query(
                """
                with endpoint as (
                    insert into storehook.endpoints (id, url, created_by, changed_by, secret)
                    values (1, 'https://example.com/', 'somebody', 'somebody', decode(repeat('00', 60), 'hex'))
                    returning id
                ), cursor as (
                    insert into storehook.endpoint_cursors (endpoint_id, position, queued_position) select id, 0, 0 from endpoint
                )
                insert into storehook.endpoint_health (endpoint_id) select id from endpoint
                """)
            try await Self.waitForConsumptionAnswer(site)
            try await withTokenKey { settings in
                try await site.with(["receive", "--port", "0", "--metrics-port", "0"]) { receiver in
                    try await site.with(["work", "--metrics-port", "0"]) { worker in
                        try await site.with(["serve", "--port", "0", "--metrics-port", "0"], settings) { api in
                            try await site.with(["console", "--port", "0", "--metrics-port", "0"]) { console in
                                try await watch(site, receiver, worker, api, console)
                            }
                        }
                    }
                }
            }
        }
    }

    private func watch(
        _ site: Site, _ receiver: ChildProgram, _ worker: ChildProgram, _ api: ChildProgram, _ console: ChildProgram
    ) async throws {
        let ports = (
            try await receiver.metricsPort(), try await worker.metricsPort(), try await api.metricsPort(),
            try await console.metricsPort()
        )
        try await PrometheusServer.with(
            receiver: ports.0, worker: ports.1, api: ports.2, console: ports.3
        ) { prometheus in
            // Rates need a value from before the load.
            try await eventually("all targets are up") {
                try await prometheus.query("up == 1").count == 4
            }
            // What a worker counts at its start is on its page some seconds later.
            try await eventually("what is due is counted") {
                try await fetch("http://127.0.0.1:\(ports.1)/metrics").body.contains("storehook_due_lines 0")
            }
            try await load(site, port: try #require(receiver.port))
            for _ in 0..<20 {
                let asked = "http://127.0.0.1:\(try #require(api.port))/v1/account"
                #expect(try await fetch(asked).status == 401)
            }
            let port = try #require(console.port)
            #expect(try await fetch("http://127.0.0.1:\(port)/login").status == 200)
            let pages = try await expectPages([ports.0, ports.1, ports.2, ports.3])
            try await expectNamesExist(in: pages)
            try await expectDashboard(prometheus)
            try await eventually("the junk alerts") {
                try await prometheus.firing().contains("StorehookDeadLettersUnverified")
            }
            #expect(try await prometheus.firing() == ["StorehookDeadLettersUnverified"])
            #expect(try await prometheus.brokenRules().isEmpty)
        }
    }

    /// A refund request that is to be answered, as a worker leaves it that has a policy and no key.
    private static func waitForConsumptionAnswer(_ site: Site) async throws {
        try await site.pool.query(
            """
            insert into storehook.transactions
                   (environment, bundle_id, transaction_id, original_transaction_id, is_upgraded, app_account_token, signed_at,
                    digest, payload)
            select 'Sandbox', 'org.example', '1', '1', false, u, now(), sha256('1'), '{}'
              from gen_random_uuid() as u
            """)
        try await site.pool.query(
            """
            insert into storehook.consumption_consents (account, app_account_token, granted, text, recorded_by)
            select 'a', app_account_token, true, 'yes', 'test' from storehook.transactions
            """)
        try await site.pool.query(
            """
            with noted as (
                insert into storehook.consumption_answers
                       (notification_uuid, environment, bundle_id, transaction_id, signed_at, deadline, why)
                values (gen_random_uuid(), 'Sandbox', 'org.example', '1', now(), now() + interval '12 hours', 'no_key')
                returning id
            )
            insert into storehook.consumption_queue (id, received_at, due_at) select id, now(), now() from noted
            """)
    }

    /// Posts notifications with repeats, junk, and what Apple never sends, and waits until all of it is settled.
    private func load(_ site: Site, port: Int) async throws {
        let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
        let simulation = Simulation(seed: 7, notifications: 200, duplicatePercent: 10, endingAt: now)
        var bodies = simulation.signedDeliveries(by: site.authority).map { UnsignedNotification.postBody($0) }
        bodies.append(UnsignedNotification.postBody("junk"))
        bodies.append(Array("nothing of Apple's".utf8))
        for body in bodies {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/webhooks/apple")
            request.method = .POST
            request.body = .bytes(ByteBuffer(bytes: body))
            let status = try await client.execute(request, timeout: .seconds(60)).status
            #expect(status == .ok || body.count == 18)
        }
        try await site.untilDone()
    }

    /// Each page passes promtool's linter and counts what was posted.
    private func expectPages(_ ports: [Int]) async throws -> String {
        var pages = ""
        for port in ports {
            // What the database says is asked again after a second or so.
            var page = ""
            try await eventually("the page tells the queue's depth as it is now") {
                let (status, text) = try await fetch("http://127.0.0.1:\(port)/metrics")
                page = text
                return status == 200 && text.contains(#"storehook_queue_depth{state="dead"} 1"#)
            }
            let (succeeds, said) = try await promtool(["check", "metrics"], input: page)
            #expect(succeeds, "\(said)")
            #expect(!page.contains("simul") && !page.contains("com.example"))
            pages += page
        }
        for line in [
            #"storehook_received_total{outcome="stored"} 201"#, #"storehook_received_total{outcome="malformed"} 1"#,
            #"storehook_dead_letters_total{category="unverified",reason="malformed"} 1"#,
            #"storehook_dead_letters_total{category="unprocessable",reason="attempts_exhausted"} 0"#,
            #"storehook_queue_depth{state="dead"} 1"#, #"storehook_processed_total{outcome="dead",type="other"} 1"#,
            #"storehook_retries_total{reason="other"} 0"#, "storehook_database_up 1", "storehook_schema_mismatch 0",
            "storehook_verify_seconds_count 201", "storehook_lost_leases_total 0",
            #"storehook_database_errors_total{sqlstate_class="08"} 0"#,
        ] { #expect(pages.contains(line + "\n"), "\(line)") }
        func sum(_ start: String) -> Int {
            pages.split(separator: "\n").filter { $0.hasPrefix(start) }
                .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
        }
        // The poster's and the askers', which may have been closed by now.
        #expect(sum("storehook_open_connections") <= 3)
        let repeats = sum(#"storehook_processed_total{outcome="duplicate""#)
        #expect(sum("storehook_processed_total{") == 201)
        #expect(repeats == 20)
        #expect(sum("storehook_receipt_to_commit_seconds_count") == 200 - repeats)
        #expect(sum("storehook_signed_to_receipt_seconds_count") == 200 - repeats)
        #expect(sum("storehook_store_size_sum") == 201 && sum("storehook_batch_size_sum") == 201)
        #expect(sum(#"storehook_chain_cache_total{result="hit"}"#) >= 100)
        return pages
    }

    /// What the alerts and the dashboard look at is there.
    private func expectNamesExist(in pages: String) async throws {
        let used = try text("prometheus/rules.yml") + text("grafana/storehook.json")
        let names = Set(used.matches(of: /\b(storehook_[a-z_]+|process_[a-z_]+)\b/).map { String($0.1) })
        #expect(names.count > 20)
        // There only while the database refuses something, and while a product is lacking: `HealthTests` and
        // `UnsoldProductCommandTests` see them.
        for name in names.subtracting(["storehook_queue_refused", "storehook_unsold_products"]) {
            #expect(pages.contains("\n\(name){") || pages.contains("\n\(name) "), "\(name)")
        }
    }

    /// Every query of the dashboard is understood, and finds something wherever load was made.
    private func expectDashboard(_ prometheus: PrometheusServer) async throws {
        let dashboard = try JSONSerialization.jsonObject(with: Data(try text("grafana/storehook.json").utf8))
        let root = try #require(dashboard as? [String: Any])
        let panels = try #require(root["panels"] as? [[String: Any]])
        let variables = (root["templating"] as? [String: Any])?["list"] as? [[String: Any]] ?? []
        #expect(variables.compactMap { $0["name"] as? String } == ["datasource", "job"])
        var queries = 0
        for panel in panels {
            for target in panel["targets"] as? [[String: Any]] ?? [] {
                #expect((target["datasource"] as? [String: String])?["uid"] == "${datasource}")
                let expression = try #require(target["expr"] as? String)
                    .replacing("$job", with: "storehook-.*").replacing("$__rate_interval", with: "1m")
                #expect(!expression.contains("$"), "a variable that the dashboard does not have: \(expression)")
                queries += 1
                // Nothing was put off or refused, no statement failed, and keys could be read.
                let faults = ["retries_total", "errors_total", "queue_refused", "prepared_seconds", "stale_since"]
                if faults.contains(where: expression.contains) {
                    #expect(try await prometheus.query(expression).isEmpty, "\(expression)")
                    continue
                }
                try await eventually("\(panel["title"] ?? "") shows something: \(expression)", within: .seconds(30)) {
                    let found = try await prometheus.query(expression)
                    return !found.isEmpty && found.allSatisfy { !$0.value.isNaN }
                }
            }
        }
        #expect(queries > 30)
        for (expression, least) in [
            (#"sum(rate(storehook_processed_total{outcome="applied"}[1m]))"#, 0.1),
            ("histogram_quantile(0.99, sum by (le) (rate(storehook_receipt_to_commit_seconds_bucket[1m])))", 0.0001),
            (#"sum(increase(storehook_received_total{outcome="stored"}[1m]))"#, 50),
        ] {
            let found = try await prometheus.query(expression)
            #expect(found.count == 1 && found[0].value > least, "\(expression): \(found)")
        }
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.deploy.appending(path: path), encoding: .utf8)
    }
}
