import EvidenceStore
import Foundation
import Simulation
import TestSupport
import Testing

@Suite("The commands that explain a purchase")
struct StoryCommandTests {
    /// A life that is posted in another order than it happened.
    private func shuffledLife(_ site: Site) async throws -> (id: String, refund: String, first: String) {
        func day(_ day: Int64) -> Milliseconds { Site.now + day * 86_400_000 }
        var customer = SimulatedSubscriber(appAccountToken: Self.account, lane: 1, seed: 1)
        let line = customer.buy(.basicMonthly, at: day(0))
        let first = customer.latest(of: line)
        customer.failToRenew(line)
        customer.recover(line, at: day(32))
        customer.upgrade(line, to: .premiumYearly, at: day(40))
        customer.refund(first, at: day(45))
        customer.switchAutoRenew(line, on: false, at: day(50))
        let told = customer.takeNotifications()
        let id = try #require(told.first?.transaction?.originalTransactionId)
        for index in [4, 1, 5, 0, 3, 2] {
            try await site.outbox.store([Array(told[index].signed(by: site.authority).utf8)])
        }
        try await site.with(["work"]) { _ in try await site.untilDone() }
        return (id, told[4].uuid, told[0].uuid)
    }

    private static let account = "7f1de78e-0d4e-4c5e-9d3c-1c5f5a8c7a10"

    @Test("tell a shuffled life in the order in which it happened, in words, no line wider than 120 columns")
    func table() async throws {
        try await withSite { site in
            let life = try await shuffledLife(site)
            let told = try await site.run("subscription", life.id, "--format", "table", "--at", "2026-04-01")
            #expect(told.ending == .exited(0), "\(told.errors)")
            let lines = told.output.split(separator: "\n").map(String.init)
            #expect(
                lines == [
                    "subscription \(life.id) of com.example.storehook, Sandbox",
                    "at 2026-04-01 00:00: cancelled, access until 2027-03-13 00:00 (Apple's status 1)",
                    "product com.example.storehook.premium.yearly, 89.99 USD, storefront USA",
                    "period ends 2027-03-13 00:00, auto-renew is off",
                    "account \(Self.account)",
                    "SIGNED (UTC)      WHAT HAPPENED                                                       STATUS",
                    "2026-02-01 00:00  bought basic.monthly until 3 March, 4.99 USD                        active",
                    "2026-03-03 00:00  charge failed, no grace; Apple tries again                          active → billing_retry",
                    "2026-03-05 00:00  charge went through, paid until 4 April, 4.99 USD                   billing_retry → active",
                    "2026-03-13 00:00  upgraded to premium.yearly until 13 March 2027, 89.99 USD           active",
                    "2026-03-18 00:00  refund (other reason) of 1 February to 3 March: 4.99 USD went back  active",
                    "2026-03-23 00:00  auto-renew switched off                                             active → cancelled",
                ], "\(told.output)")
            #expect(lines.allSatisfy { $0.count <= 120 })
            let shown = try #require(try Document("sql/README.md").block(in: "text"), "the document shows this story")
            #expect(shown.lines.map { $0.replacing("ORIGINAL_ID", with: life.id) }.filter { !$0.isEmpty } == lines)

            let learned = try await site.run("subscription", life.id, "--as-learned", "--format", "table")
            let rows = learned.output.split(separator: "\n")
            #expect(rows.count == 7 && rows.allSatisfy { $0.count <= 120 })
            #expect(rows.dropFirst().first?.contains("REFUND") == true)
            #expect(rows.last?.contains("BILLING_RECOVERY") == true)
        }
    }

    @Test("print JSON for whatever is no terminal, and --format has its way")
    func json() async throws {
        try await withSite { site in
            let life = try await shuffledLife(site)
            let answer = try #require(try await site.run("subscription", life.id).json() as? [String: Any])
            let subscription = try #require((answer["lines"] as? [[String: Any]])?.first)
            #expect(subscription["basis"] as? String == "records")
            #expect(subscription["price"] as? Int == 89_990 && subscription["currency"] as? String == "USD")
            let timeline = try #require(answer["timeline"] as? [[String: Any]])
            #expect(timeline.count == 6)
            #expect(timeline.compactMap { $0["received_at"] as? String }.count == 6)
            #expect(timeline[4]["notification_uuid"] as? String == life.refund)
            let refund = try #require((timeline[4]["changes"] as? [[String: Any]])?.first)
            #expect(refund["kind"] as? String == "refunded" && refund["amount"] as? Int == 4990)
            #expect(refund["reason"] as? String == "other")
            #expect(refund["from"] as? String == "2026-02-01T00:00:00Z")

            let learned = try #require(
                try await site.run("subscription", life.id, "--as-learned").json() as? [String: Any])
            let beliefs = try #require(learned["learned"] as? [[String: Any]])
            #expect(beliefs.count == 6 && beliefs.first?["notification_uuid"] as? String == life.refund)
            #expect(beliefs.last?["status"] as? String == "cancelled")

            let one = try #require(try await site.run("notification", life.refund).json() as? [String: Any])
            #expect(one["place"] as? Int == 5 && one["of"] as? Int == 6)
            #expect((one["payload"] as? [String: Any])?["notificationType"] as? String == "REFUND")
            let text = try await site.run("notification", life.refund, "--format", "table").output
            #expect(
                text.contains("what happened  refund (other reason) of 1 February to 3 March: 4.99 USD went back\n"))
            #expect(text.contains("place          5 of 6 of its purchase\n"))
            #expect(text.contains(#""notificationType" : "REFUND""#) && !text.contains("signedTransactionInfo"))

            #expect(try await site.run("subscription", "4711").ending == .exited(1))
            #expect(
                try await site.run("subscription", life.id, "--as-learned", "--at", "2026-01-01").ending == .exited(2))
        }
    }

    @Test("answer for what was bought once, as it stood at an instant")
    func oneTime() async throws {
        try await withSite { site in
            var customer = SimulatedSubscriber(lane: 1, seed: 1)
            let unlock = customer.charge(.lifetime, at: Site.now)
            customer.refund(unlock, reason: 1, at: Site.now + 86_400_000)
            let told = customer.takeNotifications()
            let id = try #require(told.first?.transaction?.originalTransactionId)
            try await site.outbox.store(told.map { Array($0.signed(by: site.authority).utf8) })
            try await site.with(["work"]) { _ in try await site.untilDone() }
            for (at, state) in [
                ("2026-01-31", "not_bought"), ("2026-02-01T12:00:00Z", "bought"), ("2026-02-03", "refunded"),
            ] {
                let answer = try #require(try await site.run("subscription", id, "--at", at).json() as? [String: Any])
                let purchase = try #require((answer["one_time_purchases"] as? [[String: Any]])?.first)
                #expect(purchase["state"] as? String == state, "\(at)")
                #expect(purchase["revoked_reason"] as? String == "app_issue")
                #expect((answer["lines"] as? [Any])?.isEmpty == true)
            }
            let text = try await site.run("subscription", id, "--format", "table", "--at", "2026-02-03").output
            #expect(text.hasPrefix("non consumable \(id) of com.example.storehook, Sandbox\n"))
            #expect(
                text.contains(
                    "at 2026-02-03 00:00: refunded 2026-02-02 00:00 (app issue), com.example.storehook.lifetime.unlock\n"
                ))
            #expect(text.contains("bought lifetime.unlock, 149.99 USD"))
            // Beside Apple's own number.
            let refund = try #require(told.last?.signed(by: site.authority))
            let verified = try await site.run("verify", input: refund)
            let answer = try #require(try verified.json() as? [String: Any])
            #expect(answer["refund_reason"] as? String == "app_issue", "\(verified.output)")
            let bought = try await site.run("verify", input: try #require(told.first?.signed(by: site.authority)))
            #expect(bought.ending == .exited(0) && !bought.output.contains("refund_reason"))
        }
    }
}
