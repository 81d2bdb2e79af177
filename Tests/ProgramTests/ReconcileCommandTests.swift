import Crypto
import EvidenceStore
import Foundation
import Postgres
import Simulation
import Synchronization
import TestSupport
import Testing

@Suite("storehook reconcile and refresh")
struct ReconcileCommandTests {
    private static let pem = P256.Signing.PrivateKey().pemRepresentation

    /// Apple's notification history over HTTP, twenty a page.
    private static func history(_ listed: [(signedDate: Int64, jws: String)]) throws -> ScriptedServer {
        try ScriptedServer { request in
            let start = request.text.firstMatch(of: /"startDate":([0-9]+)/).flatMap { Int64($0.1) } ?? 0
            let end = request.text.firstMatch(of: /"endDate":([0-9]+)/).flatMap { Int64($0.1) } ?? 0
            guard request.line.contains("/inApps/v1/notifications/history") else {
                return .json(404, #"{"errorCode":4040010,"errorMessage":"…"}"#)
            }
            let from = request.line.firstMatch(of: /paginationToken=([0-9]+)/).flatMap { Int($0.1) } ?? 0
            let fitting = listed.filter { $0.signedDate >= start && $0.signedDate <= end }
            let page = fitting.dropFirst(from).prefix(20)
            let items = page.map { "{\"signedPayload\":\"\($0.jws)\"}" }.joined(separator: ",")
            let next = from + page.count
            let more = next < fitting.count ? ",\"paginationToken\":\"\(next)\"" : ""
            return .json(200, "{\"notificationHistory\":[\(items)],\"hasMore\":\(next < fitting.count)\(more)}")
        }
    }

    private func settings(_ server: ScriptedServer) -> [String: String] {
        [
            "STOREHOOK_APPLE_URL": "http://127.0.0.1:\(server.port)", "APPLE_ISSUER_ID": "issuer",
            "APPLE_KEY_ID": "KEYID12345", "APPLE_PRIVATE_KEY": Data(Self.pem.utf8).base64EncodedString(),
            // Apple's limit for Sandbox is a tenth of it.
            "STOREHOOK_ENVIRONMENTS": "Production",
        ]
    }

    /// Customers of the last weeks.
    private func lives(_ count: Int, by authority: SimulatedAuthority) -> [(signedDate: Int64, jws: String)] {
        let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
        return (1...count).flatMap { lane in
            var customer = SimulatedSubscriber(app: Site.app.in(.production), lane: lane, seed: UInt64(lane))
            customer.buy(.premiumMonthly, at: now - 20 * 86_400_000 + Int64(lane) * 100_000)
            for number in 1...3 { customer.test(at: now - 86_400_000 * Int64(number) - Int64(lane) * 1000) }
            return customer.takeNotifications().map { ($0.signedDate, $0.signed(by: authority)) }
        }
    }

    @Test("killed again and again ends with every notification once, and then finds nothing")
    func killed() async throws {
        try await withSite { site in
            let listed = lives(40, by: site.authority)
            let server = try Self.history(listed)
            defer { server.stop() }
            try await site.outbox.store(
                listed.enumerated().filter { $0.offset % 3 > 0 }.map { Array($0.element.jws.utf8) })
            let before = try await site.run("reconcile", "--check", with: settings(server))
            #expect(before.ending == .exited(1), "\(before.errors)")
            let lost = listed.indices.filter { $0 % 3 == 0 }.count
            #expect(before.output.contains("\"missing\" : \(lost)") || before.output.contains("\"missing\":\(lost)"))
            for round in 1...6 {
                let already = server.requests.count
                let program = try site.start(["reconcile"], settings(server))
                try await eventually("it asks") {
                    server.requests.count >= already + round * 5 || program.ending != nil
                }
                await program.discard()
                // The process that was killed holds a window until the lease ends.
                try await site.pool.query(
                    "update storehook.history_queue set due_at = now() where lease_token is not null")
            }
            let run = try await site.run("reconcile", "--format", "table", with: settings(server))
            #expect(run.ending == .exited(0), "\(run.output)\(run.errors)")
            #expect(try await site.value("select sum(recovered)::bigint from storehook.history_windows") == Int64(lost))
            #expect(try await site.value("select count(*) from storehook.outbox") == Int64(listed.count))
            let after = try await site.run("reconcile", "--check", with: settings(server))
            #expect(after.ending == .exited(0), "\(after.output)\(after.errors)")
            try await site.with(["work"], settings(server)) { _ in try await site.untilDone() }
            #expect(try await site.value("select count(*) from storehook.notifications") == Int64(listed.count))
            #expect(try await site.outbox.conservation(audit: true).isWhole)
            let told = try await site.run("reconcile", "--check", "--format", "json", with: settings(server))
            #expect(told.output.replacing(" ", with: "").contains("\"recovered\":\(lost)"), "\(told.output)")
        }
    }

    @Test("is done by a worker with a key, beside its work")
    func duty() async throws {
        try await withSite { site in
            let listed = lives(5, by: site.authority)
            let server = try Self.history(listed)
            defer { server.stop() }
            try await site.with(["work"], settings(server)) { _ in
                try await eventually("all is applied") {
                    try await site.value("select count(*) from storehook.notifications", as: Int64.self)
                        == Int64(listed.count)
                }
                try await eventually("all of it is proven") {
                    try await site.value(
                        "select coalesce(bool_and(unproven_windows = 0), false) from storehook.proven_until")
                }
            }
            let doctor = try await site.run("doctor", "--port", "1", with: settings(server))
            #expect(doctor.output.contains("all that Apple lists is held"), "\(doctor.output)")
            // Hours after the last worker with a key has ended.
            try await site.pool.query(
                """
                with later as (delete from storehook.history_windows where ends_at > now() - interval '6 hours')
                update storehook.history_windows set planned_at = now() - interval '10 days'
                 where ends_at <= now() - interval '6 hours'
                """)
            let silent = try await site.run("doctor", "--port", "1", with: settings(server))
            #expect(silent.output.contains("no worker asks Apple"), "\(silent.output)")
            #expect(silent.ending == .exited(1))
        }
    }

    @Test(
        "under way for the first time is what the doctor says, with how far it is and that there is nothing to do but wait"
    )
    func underWay() async throws {
        try await withSite { site in
            let listed = lives(2, by: site.authority)
            let server = try Self.history(listed)
            defer { server.stop() }
            #expect(try await site.run("reconcile", with: settings(server)).ending == .exited(0))
            try await site.pool.query(
                """
                update storehook.history_windows set proven_at = null
                 where ends_at > (select min(starts_at) + interval '10 days' from storehook.history_windows)
                """)
            let doctor = try await site.run("doctor", "--port", "1", "--format", "table", with: settings(server))
            let line = doctor.output.split(separator: "\n").first { $0.contains(" history ") } ?? ""
            #expect(
                line.hasPrefix("-  ") && line.contains("in progress, and nothing to do but wait"), "\(doctor.output)")
            #expect(line.contains(#/[0-9]+ of [0-9]+ spans of time are compared/#), "\(line)")
        }
    }

    @Test("tells which setting is missing")
    func settings() async throws {
        try await withSite { site in
            let run = try await site.run("reconcile")
            #expect(run.ending == .exited(2) && run.errors.contains("STOREHOOK_APPLE_KEYS"), "\(run.errors)")
            let refresh = try await site.run("refresh", "1")
            #expect(
                refresh.ending == .exited(2) && refresh.errors.contains("STOREHOOK_APPLE_KEYS"), "\(refresh.errors)")
        }
    }
}
