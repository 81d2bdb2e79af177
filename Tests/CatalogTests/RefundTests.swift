import Accounts
import AppStoreServerAPI
import Testing

@Suite("What a catalog has Apple told about refunds")
struct RefundTests {
    private static let catalog = """
        app: com.example.app
        tiers: [{id: free}, {id: pro}]
        products: [{id: a, product_id: com.example.a, tier: pro, period: month}]

        """

    private static let rules = """
          - name: outage
            products: [com.example.coins.*]
            reasons: [FULFILLMENT_ISSUE]
            answer: {delivery_status: UNDELIVERED_SERVER_OUTAGE, sample_content_provided: false}
          - reasons: [LEGAL]
            answer: leave_to_apple
          - types: [auto_renewable]
            answer: {delivery_status: DELIVERED, sample_content_provided: true, refund_preference: GRANT_PRORATED}
          - answer:
              delivery_status: DELIVERED
              sample_content_provided: false
              consumption_percentage: 12.5%
              refund_preference: DECLINE
        """

    @Test("is read as a file of its own is, word for word")
    func same() throws {
        let catalog = try Catalog(yaml: Self.catalog + "refunds:\n" + Self.rules)
        let policy = try ConsumptionPolicy(yaml: "rules:\n" + Self.rules)
        #expect(catalog.refunds == policy && policy.rules.count == 4)
        #expect(try Catalog(yaml: Self.catalog).refunds == nil)
    }

    @Test(
        "is refused with the line where a file of its own is",
        arguments: [
            "  - answer: nothing", "  - {}", "  - answer: {delivery_status: DELIVERED}",
            "  - answer: {delivery_status: LOST, sample_content_provided: false}",
            "  - {colour: red, answer: leave_to_apple}", "  - {types: [car], answer: leave_to_apple}",
            "  - {products: [a*b], answer: leave_to_apple}",
            "  - answer: {delivery_status: DELIVERED, sample_content_provided: false, consumption_percentage: 120%}",
            "  - answer: {delivery_status: DELIVERED, sample_content_provided: false, consumption_percentage: 50}",
            "  - answer: {delivery_status: DELIVERED, sample_content_provided: true, refund_preference: GRANT_PRORATED}",
            "  - answer: leave_to_apple\n  - answer: leave_to_apple",
        ])
    func wrong(_ rule: String) throws {
        #expect(throws: (any Error).self) { try ConsumptionPolicy(yaml: "rules:\n" + rule) }
        let (catalog, findings) = Catalog.check(yaml: Self.catalog + "refunds:\n" + rule)
        #expect(catalog == nil && findings.count == 1, "\(findings)")
        #expect((findings.first?.line ?? 0) >= 5, "\(findings)")
    }

    @Test("may name an app of which nothing is sold, with a warning")
    func stranger() throws {
        let (catalog, findings) = Catalog.check(
            yaml: Self.catalog + "refunds:\n  - {apps: [com.example.other], answer: leave_to_apple}\n")
        #expect(catalog?.refunds?.apps == ["com.example.other"])
        #expect(findings.count == 1 && findings.first?.severity == .warning)
    }
}
