import Foundation
import Postgres
import TestSupport
import Testing

@Suite("storehook refunds")
struct RefundCommandTests {
    private static let policy = """
        rules:
          - answer: {delivery_status: DELIVERED, sample_content_provided: true, consumption_percentage: 50%, refund_preference: DECLINE}
        """

    /// What the shop of the stand-in sold.
    private struct Sold: Decodable {
        var transactionId: String
    }

    private func buy(_ product: String, _ account: String, _ store: RunningAppStore) async throws -> String {
        let answer = try await store.shop(
            "purchases",
            #"{"productId":"com.example.storehook.\#(product)","appAccountToken":"\#(account)","environment":"Production"}"#
        )
        return try JSONDecoder().decode(Sold.self, from: Data(answer.utf8)).transactionId
    }

    private func refunds(
        _ site: Site, _ arguments: [String], _ settings: [String: String] = [:]
    ) async throws -> Outcome {
        let program = try site.start(["refunds"] + arguments, settings)
        let ending = await program.end()
        let outcome = Outcome(
            ending: ending, output: program.output, errors: program.errors, outputBytes: program.outputBytes)
        await program.discard()
        return outcome
    }

    private func json(_ run: Outcome) throws -> [String: Any] {
        try #require(try run.json() as? [String: Any], "\(run.errors)")
    }

    @Test("decide what the stand-in is answered about a refund, and end with Apple's refund")
    func standIn() async throws {
        try await withShop { site, store, settings, directory in
            let policy = directory + "/policy.yaml"
            try Self.policy.write(toFile: policy, atomically: true, encoding: .utf8)
            let settings = settings.merging(["STOREHOOK_CONSUMPTION_POLICY": policy]) { $1 }
            // user-42, under the rule auto.
            let (account, other) = ("42ca334f-18cb-59e1-9616-a1dca64eb9b4", "00000000-0000-4000-8000-000000000009")
            let granted = try await site.run("consent", "user-42", "--grant", "--text", "I agree.", with: settings)
            #expect(granted.ending == .exited(0), "\(granted.errors)")
            let products = ["premium.monthly", "premium.monthly", "coins.100", "premium.monthly"]
            var bought: [String] = []
            for (place, product) in products.enumerated() {
                bought.append(try await buy(product, place == 3 ? other : account, store))
            }
            try await site.with(["work"], settings) { _ in
                try await eventually("orders have their numbers") {
                    try await site.value(
                        "select count(number) = 4 from storehook.orders where number is not null")
                }
                var orders: [String] = []
                for transaction in bought {
                    orders.append(
                        try await site.value(
                            """
                            select number from storehook.order_transactions where transaction_id = \(transaction)
                            """))
                }
                for (place, type) in [
                    ["full"], ["partial", "--amount", "1000"], ["partial", "--amount", "500"], ["full"],
                ]
                .enumerated() {
                    let made = try await refunds(
                        site, ["create", orders[place], "--why", "Heidi asked", "--as", "anna", "--type"] + type,
                        settings)
                    #expect(try json(made)["number"] as? String == "RF-00\(place + 1)", "\(made.errors)")
                }
                let full = try await site.run(
                    "refunds", "approve", "RF-001", "--as", "ben", "--format", "table", with: settings)
                #expect(full.output.contains("approved RF-001") && full.output.contains("Apple alone refunds"))
                for number in ["RF-003", "rf-004"] {
                    #expect(try await site.run("refunds", "approve", number, with: settings).ending == .exited(0))
                }
                let rejected = try await site.run(
                    "refunds", "reject", "RF-002", "--note", "used up", with: settings)
                #expect(try json(rejected)["state"] as? String == "rejected")
                // The shop began a day ago; Apple's requests are answered within twelve hours.
                try await store.shop("clock", #"{"advanceSeconds":86000}"#)
                for transaction in bought {
                    try await store.shop(
                        "consumption-requests", #"{"transactionId":"\#(transaction)","reason":"OTHER"}"#)
                }
                try await eventually("Apple is answered about three, and not about the one without consent") {
                    try await site.value(
                        """
                        select count(*) filter (where outcome = 'answered') = 3 and count(*) filter (where why = 'no_consent') = 1
                          from storehook.consumption_answers
                        """)
                }
                let received = try JSONSerialization.jsonObject(with: Data(try await store.shop("received").utf8))
                var told: [String: String] = [:]
                for answer in try #require(received as? [[String: Any]])
                where answer["kind"] as? String == "consumption" {
                    told[answer["transactionId"] as? String ?? ""] = answer["refundPreference"] as? String
                }
                #expect(told == [bought[0]: "GRANT_FULL", bought[1]: "DECLINE", bought[2]: "GRANT_PRORATED"])
                let again = try await site.run(
                    "refunds", "create", orders[0], "--type", "full", "--why", "why", with: settings)
                #expect(again.ending == .exited(1))
                #expect(again.errors.contains("RF-001 about this transaction is open"), "\(again.errors)")
                try await follow(site, store, settings, bought[0])
            }
        }
    }

    /// Apple refunds a half of what was approved, and takes it back.
    private func follow(
        _ site: Site, _ store: RunningAppStore, _ settings: [String: String], _ transaction: String
    ) async throws {
        try await store.shop("refunds", #"{"transactionId":"\#(transaction)","percentage":50}"#)
        try await eventually("it is processed") {
            try await site.value(
                "select state = 'processed' and refunded_by_apple > 0 from storehook.refund_requests where number = 'RF-001'"
            )
        }
        try await store.shop("refund-reversals", #"{"transactionId":"\#(transaction)"}"#)
        try await eventually("the reversal is noted") {
            try await site.value(
                "select state = 'processed' and reversed_at is not null from storehook.refund_requests where number = 'RF-001'"
            )
        }
        let list = try await site.run("refunds", "list", "--state", "processed", with: settings)
        let rows = try #require(try json(list)["requests"] as? [[String: Any]])
        #expect(rows.count == 1 && rows[0]["number"] as? String == "RF-001")
        #expect(rows[0]["reason"] as? String == "He…" && (rows[0]["difference"] as? Int ?? 0) < 0)
        #expect(rows[0]["max_refundable"] as? Int == rows[0]["price"] as? Int)
    }

    @Test("make, decide, record and list requests, each in one line of what to do")
    func commands() async throws {
        try await withSite { site in
            try await booked(site)
            let order = "ORD-20260131-0001"
            let made = try await site.run(
                "refunds", "create", order, "--type", "partial", "--amount", "4990", "--why", "Heidi asked", "--as",
                "anna",
                "--format", "table")
            #expect(
                made.output == """
                    created RF-001: partial refund of 4.99 USD for transaction 100 of \(order)
                    to decide: storehook refunds approve RF-001, or reject

                    """, "\(made)")
            let own = try await site.run(
                "refunds", "approve", "RF-001", "--as", "anna", with: ["STOREHOOK_FOUR_EYES": "yes"])
            #expect(
                own.ending == .exited(1) && own.errors.contains("RF-001: another person has to approve"),
                "\(own.errors)")
            let approved = try await site.run(
                "refunds", "approve", "RF-001", "--amount", "4000", "--note", "agreed", "--as", "ben",
                with: ["STOREHOOK_FOUR_EYES": "yes"])
            #expect(try json(approved)["approved"] as? Int == 4000 && json(approved)["decider"] as? String == "cli:ben")
            for (refused, why) in [
                (["approve", "RF-001"], "it is approved by cli:ben"),
                (["cancel", "RF-001", "--note", "x"], "approved"),
                (
                    ["reject", "RF-009", "--note", "x"],
                    "RF-009: there is no such refund request: storehook refunds list"
                ),
                (["create", "ORD-20260131-0002", "--type", "full", "--why", "x"], "storehook orders list"),
                (
                    ["record", "RF-001", "--reference", "b", "--amount", "9991", "--at", "2026-02-01"],
                    "at most 9990 is left"
                ),
            ] {
                let run = try await refunds(site, refused)
                #expect(run.ending == .exited(1) && run.errors.contains(why), "\(refused): \(run.errors)")
                #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
            }
            let recorded = try await site.run(
                "refunds", "record", "RF-001", "--reference", "=bank", "--amount", "4000", "--at",
                "2026-02-01T12:00:00Z")
            #expect(try json(recorded)["state"] as? String == "processed")
            let csv = try await site.run("refunds", "list", "--format", "csv")
            #expect(csv.output.hasPrefix("number,order,") && csv.output.contains("RF-001,\(order),"), "\(csv)")
            #expect(csv.output.contains(",\"'=bank\",") && !csv.output.contains("Heidi"), "\(csv)")
            let open = try await site.run("refunds", "list", "--open", "--why", "a complaint", "--format", "table")
            #expect(open.output.contains("Heidi asked") && open.output.contains("processed"), "\(open)")
            #expect(
                try await site.value(
                    "select count(*) = 1 from storehook.audit where act = 'open_personal_text'"))
            for wrong in [
                ["create", order, "--type", "full", "--amount", "5", "--why", "x"],
                ["create", order, "--type", "partial", "--why", "x"],
                ["create", order, "--type", "half", "--why", "x"], ["create", order, "--type", "full"],
                ["approve", "1"], ["reject", "RF-001"], ["reject", "RF-001", "--note", " "], ["cancel", "RF-001"],
                ["record", "RF-001", "--reference", "", "--amount", "1", "--at", "2026-02-01"],
                ["record", "RF-001", "--reference", "x", "--amount", "1", "--at", "soon"], ["list", "--state", "open"],
                ["list", "--after", "x"],
            ] {
                let program = try site.start(["refunds"] + wrong)
                #expect(await program.end() == .exited(2), "\(wrong): \(program.errors)")
                #expect(program.errors.split(separator: "\n").count == 1, "\(program.errors)")
                await program.discard()
            }
            let eyes = try await site.run(
                "refunds", "cancel", "RF-001", "--note", "x", with: ["STOREHOOK_FOUR_EYES": "perhaps"])
            #expect(eyes.ending == .exited(2) && eyes.errors.contains("STOREHOOK_FOUR_EYES: it is yes or no"))
        }
    }

    /// A month of 9.99 in the books.
    private func booked(_ site: Site) async throws {
        try await site.pool.query(
            """
            with class as (
                insert into storehook.order_classes
                       (environment, bundle_id, product_id, plan_type, status, currency, storefront)
                values ('Production', 'com.example.app', 'basic', 'auto_renewable', 'completed', 'USD', 'USA')
                returning id
            ), booked as (
                insert into storehook.booked_orders
                       (environment, bundle_id, order_key, original_transaction_id, originally_at, day, number, created_at,
                        class_id, plan_type, item, updated_at)
                select 'Production', 'com.example.app', '100', '100', '2026-01-31', '2026-01-31', 1, now(), class.id,
                       'auto_renewable', '100', now()
                  from class
                returning id
            )
            insert into storehook.booked_transactions
                   (order_id, item, transaction_id, product_id, relation, is_within, starts_at, ends_at, price, currency,
                    storefront, quantity, is_trial, is_void, revoked_share, refunded, heard_at, changed_at)
            select id, '100', '100', 'basic', 'initial_purchase', false, '2026-01-31', '2026-02-28', 9990, 'USD', 'USA', 1, false,
                   false, 0, 0, now(), now()
              from booked
            """)
    }
}
