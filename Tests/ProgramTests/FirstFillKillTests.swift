import AppleRecords
import Base
import Crypto
import EventStore
import EvidenceStore
import Foundation
import Postgres
import Simulation
import Synchronization
import TestSupport
import Testing

/// A shop that has sold for months when storehook is installed: worker processes fetch its history while others buy, and one after the
/// other is killed in the middle of it.
@Suite("Events after a first fill by workers that are killed", .serialized)
struct FirstFillKillTests {
    private static let catalog = """
        app: \(SimulatedApp.example.bundleId)
        tiers: [{id: free}, {id: basic}, {id: premium}]
        products:
          - {id: monthly, product_id: \(SimulatedProduct.premiumMonthly.id), tier: premium, period: month}
          - {id: weekly, product_id: \(SimulatedProduct.basicWeekly.id), tier: basic, period: week}
        """
    private static let app = SimulatedApp.example.in(.production)
    private static let scope = AppEnvironment(bundleID: app.bundleId, environment: "Production")
    private static let pem = P256.Signing.PrivateKey().pemRepresentation
    private static let day: Int64 = 86_400_000

    private typealias Listed = (signedDate: Int64, jws: String)

    private static func token(_ lane: Int) -> String {
        let digits = String(lane)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    private func customer(
        _ lane: Int, _ site: Site, _ live: (inout SimulatedSubscriber, _ now: Int64) -> Void
    ) -> [Listed] {
        var customer = SimulatedSubscriber(
            app: Self.app, appAccountToken: Self.token(lane), lane: lane, seed: UInt64(lane))
        live(&customer, Int64(Date().timeIntervalSince1970 * 1000))
        return customer.takeNotifications().map { ($0.signedDate, $0.signed(by: site.authority)) }
    }

    /// Who bought long before: some have access still, some had, some got their money back.
    private func earlier(_ lane: Int, _ site: Site) -> [Listed] {
        customer(lane, site) { customer, now in
            let line = customer.buy(.premiumMonthly, at: now - 170 * Self.day + Int64(lane % 400) * 3_700_000)
            for _ in 0..<(lane % 2 == 0 ? 5 : 4) { customer.renew(line) }
            if lane % 3 == 0 {
                customer.refund(customer.latest(of: line), at: now - 3 * Self.day + Int64(lane % 400) * 1000)
            }
        }
    }

    /// Apple's notification history over HTTP, twenty a page.
    private static func history(_ listed: [Listed]) throws -> ScriptedServer {
        let listed = listed.sorted { ($0.signedDate, $0.jws) < ($1.signedDate, $1.jws) }
        /// The first place with a later date, or with that date.
        @Sendable func place(_ date: Int64) -> Int {
            var (low, high) = (0, listed.count)
            while low < high {
                let middle = (low + high) / 2
                if listed[middle].signedDate < date { low = middle + 1 } else { high = middle }
            }
            return low
        }
        return try ScriptedServer { request in
            guard request.line.contains("/inApps/v1/notifications/history") else {
                return .json(404, #"{"errorCode":4040010,"errorMessage":"…"}"#)
            }
            let start = request.text.firstMatch(of: /"startDate":([0-9]+)/).flatMap { Int64($0.1) } ?? 0
            let end = request.text.firstMatch(of: /"endDate":([0-9]+)/).flatMap { Int64($0.1) } ?? 0
            let from = request.line.firstMatch(of: /paginationToken=([0-9]+)/).flatMap { Int($0.1) } ?? 0
            let fitting = listed[place(start)..<max(place(start), place(end + 1))]
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
            "STOREHOOK_ENVIRONMENTS": "Production", "STOREHOOK_LEASE_SECONDS": "2", "STOREHOOK_LISTEN": "off",
        ]
    }

    @Test("folded they give what is read, for all who bought before and all who buy meanwhile, each told of once")
    func killed() async throws {
        let (count, kills) = takesAllSamples ? (5_000, 60) : (24, 3)
        try await withSite { site in
            try await site.apply(catalog: Self.catalog)
            let before = (1...count).map { earlier($0, site) }
            let others = (1...max(count / 10, 12)).map { lane in
                customer(100_000 + lane, site) { $0.buy(.basicWeekly, at: $1 - 3_600_000) }
            }
            let listed = before.flatMap(\.self)
            let server = try Self.history(listed)
            defer { server.stop() }
            let settings = settings(server)
            var generator = SeededGenerator()
            func start() throws -> ChildProgram { try site.start(["work", "--batch", "10"], settings) }
            var workers = try (0..<3).map { _ in try start() }
            var killed = 0
            do {
                let posts = others.flatMap(\.self)
                for round in 1...kills {
                    // By progress, not by time: workers have work in hand whenever one of them is killed.
                    let enough = Int64(listed.count * round / (kills + 2))
                    try await eventually("more is applied", within: .seconds(300)) {
                        try await site.value("select count(*) from storehook.notifications") >= enough
                    }
                    let bought = posts.enumerated().filter { $0.offset % kills == round - 1 }
                    try await site.outbox.store(bought.map { Array($0.element.jws.utf8) })
                    let victim = Int.random(in: workers.indices, using: &generator)
                    workers[victim].signal(SIGKILL)
                    if await workers[victim].end() == .signalled(SIGKILL) { killed += 1 }
                    await workers[victim].discard()
                    workers[victim] = try start()
                    // What it held is taken over at once, and not after a lease of minutes.
                    try await site.pool.query(
                        "update storehook.history_queue set due_at = now() where lease_token is not null")
                }
                try await settled(site)
            } catch {
                for worker in workers { print(worker.errors.suffix(3000)) }
                for worker in workers { await worker.discard() }
                throw error
            }
            for worker in workers {
                worker.signal(SIGTERM)
                #expect(await worker.end() == .exited(0))
                await worker.discard()
            }
            #expect(killed == kills)
            #expect(try await site.outbox.conservation(audit: true).isWhole)
            for check in FoldedEvents.checks {
                #expect(try await site.value(check.query, as: Int64.self) == 0, "\(check.what)")
            }
            let checked = try await EventStore(site.pool).checkAccounts()
            #expect(checked.looked > 0 && checked.differing == 0 && checked.overdue == 0, "\(checked)")
            let told = try await told(site)
            #expect(told.count == count + others.count)
            #expect((1...count).allSatisfy { told[Self.token($0)] == 2 }, "each who bought before is told of once")
            #expect((1...others.count).allSatisfy { told[Self.token(100_000 + $0), default: 0] >= 2 })
        }
    }

    /// How many events each account has.
    private func told(_ site: Site) async throws -> [String: Int64] {
        let rows = try await site.pool.query(
            "select token, count(*) from storehook.events where token is not null group by token")
        return try Dictionary(
            rows.map { (try $0.decode(0, as: UUID.self).uuidString.lowercased(), try $0.decode(1)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// All that Apple lists was asked for, applied, told, and has its place.
    private func settled(_ site: Site) async throws {
        let (events, history) = (EventStore(site.pool), History(site.pool))
        try await eventually("all is told", within: .seconds(takesAllSamples ? 1800 : 120)) {
            let open = try await history.open([Self.scope])
            // A window whose asking was cut off is neither due nor leased while it waits to be asked again.
            let isAsked: Bool = try await site.value(
                "select not exists (select from storehook.history_windows where asked_at is null)")
            let isOwed = try await events.isOwed()
            let isDone: Bool = try await site.value(
                """
                select not exists (select from storehook.outbox_queue)
                   and not exists (select from storehook.events_unplaced)
                   and not exists (select from storehook.purchase_tellings where due_at <= now())
                   and not exists (select from storehook.access_tellings where due_at <= now())
                """)
            return open.due == 0 && open.leased == 0 && isAsked && isDone && !isOwed
        }
    }
}
