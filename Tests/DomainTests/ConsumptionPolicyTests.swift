import Accounts
import AppStorePayloads
import AppStoreServerAPI
import Base
import Testing

@Suite("A policy for requests of consumption data")
struct ConsumptionPolicyTests {
    private func subject(
        _ product: String? = "com.example.coins.100", _ type: ProductType? = .consumable,
        _ reason: ConsumptionRequestReason? = .unintendedPurchase, _ environment: Environment = .production,
        app: String = "com.example.app"
    ) -> ConsumptionSubject {
        ConsumptionSubject(app: app, environment: environment, product: product, type: type, reason: reason)
    }

    private static let whole = """
        # The first rule that fits speaks.
        rules:
          - name: outage in March
            products: [com.example.coins.*, com.example.pro]
            reasons: [FULFILLMENT_ISSUE]
            environments: [Production]
            apps: [com.example.app]
            answer:
              delivery_status: UNDELIVERED_SERVER_OUTAGE
              sample_content_provided: true
              consumption_percentage: 0
              refund_preference: GRANT_FULL
          - types: [auto_renewable]
            answer:
              delivery_status: DELIVERED
              sample_content_provided: false
              refund_preference: GRANT_PRORATED
          - reasons: [LEGAL, OTHER]
            answer: leave_to_apple
          - answer:
              delivery_status: DELIVERED
              sample_content_provided: false
              consumption_percentage: 12.5%
        """

    @Test("says what the first rule that fits says; a condition that is not there fits everything")
    func order() throws {
        let policy = try ConsumptionPolicy(yaml: Self.whole)
        #expect(policy.rules.count == 4 && policy.apps == ["com.example.app"])
        func rule(_ subject: ConsumptionSubject) -> Int? { policy.rule(for: subject)?.number }
        #expect(rule(subject("com.example.coins.7", .consumable, .fulfillmentIssue)) == 1)
        #expect(rule(subject("com.example.pro", .autoRenewableSubscription, .fulfillmentIssue)) == 1)
        #expect(rule(subject("com.example.pro2", .autoRenewableSubscription, .fulfillmentIssue)) == 2)
        #expect(rule(subject("com.example.coins.7", .consumable, .fulfillmentIssue, .sandbox)) == 4)
        #expect(rule(subject("com.example.coins.7", .consumable, .fulfillmentIssue, app: "com.example.b")) == 4)
        #expect(rule(subject("x", .nonConsumable, .legal)) == 3)
        #expect(rule(subject("x", .autoRenewableSubscription, .legal)) == 2)
        // What is not known fits no condition.
        #expect(rule(subject(nil, nil, nil)) == 4)
        #expect(policy.rules.map(\.name) == ["outage in March", nil, nil, nil])
        #expect(policy.rules[2].verdict == .leaveToApple)
        guard case .answer(let first) = policy.rules[0].verdict, case .answer(let last) = policy.rules[3].verdict else {
            Issue.record("rules 1 and 4 answer")
            return
        }
        #expect(
            first
                == ConsumptionAnswer(
                    deliveryStatus: .undeliveredServerOutage, sampleContentProvided: true, consumptionPercentage: 0,
                    refundPreference: .grantFull))
        #expect(
            last
                == ConsumptionAnswer(
                    deliveryStatus: .delivered, sampleContentProvided: false, consumptionPercentage: 12_500))
    }

    @Test("says nothing where no rule fits")
    func none() throws {
        let policy = try ConsumptionPolicy(yaml: "rules:\n  - products: [a]\n    answer: leave_to_apple\n")
        #expect(policy.rule(for: subject("b")) == nil)
        #expect(policy.rule(for: subject("a")) != nil)
    }

    @Test(
        "takes a share as people write it, and as Apple counts",
        arguments: [
            ("0", 0), ("0%", 0), ("100%", 100_000), ("12.5%", 12_500), ("0.001%", 1), ("33.333%", 33_333),
            ("50000", 50_000), ("1000", 1000), ("100000", 100_000),
        ])
    func share(text: String, milliunits: Int64) throws {
        let policy = try ConsumptionPolicy(yaml: Self.answer("consumption_percentage: \(text)"))
        guard case .answer(let answer) = policy.rules[0].verdict else { throw Unexpected() }
        #expect(answer.consumptionPercentage == milliunits)
    }

    private struct Unexpected: Error {}

    /// A policy with one rule, whose answer has these lines besides.
    private static func answer(_ lines: String...) -> String {
        """
        rules:
          - answer:
              delivery_status: DELIVERED
              sample_content_provided: false

        """ + lines.map { "      \($0)\n" }.joined()
    }

    private static let faults: [(text: String, line: Int?, words: [String])] = [
        ("", nil, ["rules:"]), ("- a", nil, ["rules:"]), ("rules: 3", 1, ["list"]), ("rules: []", 1, ["at least one"]),
        ("rulez: []", 1, ["rulez", "it has rules"]), ("rules:\n  - products: [a\n", 3, ["not YAML"]),
        ("rules:\n  - anser: leave_to_apple", 2, ["anser", "answer"]), ("rules:\n  - name: x", 2, ["needs answer"]),
        ("rules:\n  - answer: leave_it", 2, ["leave_to_apple"]),
        ("rules:\n  - answer: leave_to_apple\n    answer: leave_to_apple", nil, ["twice"]),
        ("rules:\n  - products: a\n    answer: leave_to_apple", 2, ["products: [a, b]"]),
        ("rules:\n  - products: []\n    answer: leave_to_apple", 2, ["products"]),
        ("rules:\n  - products: [a*b]\n    answer: leave_to_apple", 2, ["at whose end"]),
        ("rules:\n  - reasons: [BORED]\n    answer: leave_to_apple", 2, ["UNINTENDED_PURCHASE"]),
        ("rules:\n  - environments: [Xcode]\n    answer: leave_to_apple", 2, ["Production, Sandbox"]),
        ("rules:\n  - types: [coins]\n    answer: leave_to_apple", 2, ["auto_renewable, consumable"]),
        ("rules:\n  - answer: leave_to_apple\n  - answer: leave_to_apple", 3, ["never asked", "rule 1"]),
        ("rules:\n  - answer:\n      sample_content_provided: true", 3, ["delivery_status"]),
        ("rules:\n  - answer:\n      delivery_status: DELIVERED", 3, ["sample_content_provided"]),
        (answer("customer_consented: true"), 5, ["customer_consented"]),
        (answer("consumption_percentage: 50"), 5, ["50%", "50000"]),
        (answer("consumption_percentage: 101%"), 5, ["50%"]), (answer("consumption_percentage: 100001"), 5, ["50%"]),
        (answer("consumption_percentage: -1"), 5, ["50%"]), (answer("consumption_percentage: 1.2345%"), 5, ["50%"]),
        (answer("refund_preference: MAYBE"), 5, ["DECLINE, GRANT_FULL, GRANT_PRORATED"]),
        (
            "rules:\n  - answer:\n      delivery_status: UNDELIVERED_OTHER\n      sample_content_provided: false\n"
                + "      consumption_percentage: 1%", 3, ["must be 0"]
        ),
        (answer("refund_preference: GRANT_PRORATED"), 3, ["types: [auto_renewable]"]),
        (
            answer("refund_preference: GRANT_PRORATED", "consumption_percentage: 10%")
                .replacing("- answer", with: "- types: [auto_renewable]\n    answer"), 4,
            ["leave consumptionPercentage out"]
        ),
        (
            answer("refund_preference: GRANT_PRORATED")
                .replacing("- answer", with: "- types: [consumable]\n    answer"), 4, ["above 0"]
        ),
        (
            answer("refund_preference: GRANT_PRORATED", "consumption_percentage: 10%")
                .replacing("- answer", with: "- types: [consumable, auto_renewable]\n    answer"), 4, ["leave"]
        ),
    ]

    @Test("is refused with the line and what to write, wherever it means nothing or Apple would refuse it")
    func refused() {
        for (text, line, words) in Self.faults {
            do {
                _ = try ConsumptionPolicy(yaml: text)
                Issue.record("not refused:\n\(text)")
            } catch {
                #expect(line == nil || error.line == line, "\(error)\n\(text)")
                #expect(
                    !error.description.contains("\n") && words.allSatisfy(error.description.contains),
                    "\(error)\n\(text)")
            }
        }
    }

    @Test("that asks for a part of the money back says for which kinds of product")
    func prorating() throws {
        for (type, share) in [("auto_renewable", nil), ("consumable", "40%"), ("non_renewing", "40%")] {
            let lines = ["refund_preference: GRANT_PRORATED"] + (share.map { ["consumption_percentage: \($0)"] } ?? [])
            let text = Self.answer(lines.joined(separator: "\n      "))
                .replacing("- answer", with: "- types: [\(type)]\n    answer")
            let policy = try ConsumptionPolicy(yaml: text)
            guard case .answer(let answer) = policy.rules[0].verdict, let kind = policy.rules[0].types?.first else {
                throw Unexpected()
            }
            #expect(answer.informationWithConsent.fault(for: kind) == nil)
        }
    }

    @Test("that is too long is not read")
    func tooLong() {
        let text = Self.whole + String(repeating: "#", count: YAMLText.longest)
        #expect(throws: YAMLFault.self) { try ConsumptionPolicy(yaml: text) }
    }
}
