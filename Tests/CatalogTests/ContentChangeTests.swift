import Accounts
import Base
import Testing

@Suite("What a catalog says otherwise than another one")
struct ContentChangeTests {
    private static let base = """
        app: com.example.app
        currency: USD
        time_zone: Asia/Tokyo
        reporting_currency: JPY
        fiscal_months: true
        warning_days: 5
        tiers:
          - id: free
          - {id: pro, name: Pro}
          - id: premium
        products:
          - {id: monthly, product_id: com.example.monthly, tier: pro, period: month, price: 4.99, sort_order: 1, group: "1"}
          - {id: pass, product_id: com.example.pass, tier: pro, period: term, lasts: 30, price: 9, popular: true}
        features:
          - {id: words, name: Words, unit: words, limits: {free: 2 per day, pro: 5 per day, premium: unlimited}}
          - {id: ai, limits: {free: no, pro: 3 per month, premium: yes}}
        aliases: {ai-chat: ai}
        trial: {tier: pro, days: 7, products: [monthly]}
        refunds:
          - answer: {delivery_status: DELIVERED, sample_content_provided: false}
        """

    /// One edit of the file, and what is said of it: part, id, member, before and after.
    private static let edits: [(was: String, becomes: String, said: [String?])] = [
        ("price: 4.99", "price: 5.99", ["product", "monthly", "price", "4.99", "5.99"]),
        ("price: 4.99", "price: 4.999", ["product", "monthly", "price", "4.99", "4.999"]),
        ("tier: pro, period: month", "tier: premium, period: month", ["product", "monthly", "tier", "pro", "premium"]),
        ("period: month", "period: year", ["product", "monthly", "period", "month", "year"]),
        ("lasts: 30", "lasts: 31", ["product", "pass", "lasts", "30", "31"]),
        (
            "com.example.monthly", "com.example.month",
            ["product", "monthly", "product_id", "com.example.monthly", "com.example.month"]
        ),
        ("sort_order: 1", "sort_order: 2", ["product", "monthly", "sort_order", "1", "2"]),
        (", popular: true", "", ["product", "pass", "popular", "true", "false"]),
        (", group: \"1\"", "", ["product", "monthly", "group", "1", nil]),
        ("price: 4.99", "price: 4.99, currency: EUR", ["product", "monthly", "currency", "USD", "EUR"]),
        ("price: 4.99", "price: 4.99, price_text: cheap", ["product", "monthly", "price_text", nil, "en: cheap"]),
        ("price: 4.99", "price: 4.99, name: Month", ["product", "monthly", "name", nil, "en: Month"]),
        ("price: 4.99", "price: 4.99, text: All", ["product", "monthly", "text", nil, "en: All"]),
        (
            "price: 4.99", "price: 4.99, period_name: monthly",
            ["product", "monthly", "period_name", nil, "en: monthly"]
        ),
        (
            "price: 4.99", "price: 4.99, app: org.example",
            ["product", "monthly", "app", "com.example.app", "org.example"]
        ),
        ("pro: 5 per day", "pro: 6 per day", ["feature", "words", "limits.pro", "5 per day", "6 per day"]),
        ("pro: 3 per month", "pro: 3 per day", ["feature", "ai", "limits.pro", "3 per month", "3 per day"]),
        ("unit: words", "unit: letters", ["feature", "words", "unit", "en: words", "en: letters"]),
        (
            "name: Words", "name: {en: Words, de: Worte}",
            ["feature", "words", "name", "en: Words", "en: Words | de: Worte"]
        ),
        ("{id: pro, name: Pro}", "{id: pro, name: More}", ["tier", "pro", "name", "en: Pro", "en: More"]),
        ("ai-chat: ai", "ai-chat: words", ["alias", "ai-chat", nil, "ai", "words"]),
        ("days: 7", "days: 8", ["trial", nil, "days", "7", "8"]),
        ("trial: {tier: pro", "trial: {tier: premium", ["trial", nil, "tier", "pro", "premium"]),
        ("products: [monthly]", "products: [monthly, pass]", ["trial", nil, "products", "monthly", "monthly, pass"]),
        ("Asia/Tokyo", "Europe/Berlin", ["time_zone", nil, nil, "Asia/Tokyo", "Europe/Berlin"]),
        ("currency: JPY", "currency: EUR", ["reporting_currency", nil, nil, "JPY", "EUR"]),
        ("reporting_currency: JPY\n", "", ["reporting_currency", nil, nil, "JPY", nil]),
        ("fiscal_months: true\n", "", ["fiscal_months", nil, nil, "true", "false"]),
        ("warning_days: 5", "warning_days: 6", ["warning_days", nil, nil, "5", "6"]),
        (
            "sample_content_provided: false", "sample_content_provided: true",
            ["refunds", "1", "answer.sample_content_provided", "false", "true"]
        ),
        (
            "refunds:\n",
            "refunds:\n  - {products: [com.a, com.b*], reasons: [LEGAL, OTHER], answer: leave_to_apple}\n",
            ["refunds", "1", nil, nil, "products com.a, com.b*, reasons LEGAL, OTHER, answer leave_to_apple"]
        ),
        ("  - answer: {", "  - name: all\n    answer: {", ["refunds", "1", "name", nil, "all"]),
        ("  - answer: {", "  - types: [consumable]\n    answer: {", ["refunds", "1", "types", nil, "consumable"]),
        (
            "  - answer: {", "  - environments: [Sandbox]\n    answer: {",
            ["refunds", "1", "environments", nil, "Sandbox"]
        ),
        (
            "  - answer: {", "  - apps: [com.example.app]\n    answer: {",
            ["refunds", "1", "apps", nil, "com.example.app"]
        ),
        (
            "sample_content_provided: false", "sample_content_provided: false, consumption_percentage: 50%",
            ["refunds", "1", "answer.consumption_percentage", nil, "50000"]
        ),
        (
            "sample_content_provided: false", "sample_content_provided: false, refund_preference: DECLINE",
            ["refunds", "1", "answer.refund_preference", nil, "DECLINE"]
        ),
    ]

    @Test("each edit of a file is said, and nothing beside it", arguments: edits.indices)
    func edit(place: Int) throws {
        let edit = Self.edits[place]
        let before = try Catalog(yaml: Self.base)
        let text = Self.base.replacing(edit.was, with: edit.becomes, maxReplacements: 1)
        #expect(text != Self.base)
        let changes = before.changes(to: try Catalog(yaml: text))
        #expect(changes.count == 1, "\(edit): \(changes)")
        let said = changes.first.map { [$0.part.rawValue, $0.id, $0.member, $0.before, $0.after] }
        #expect(said == edit.said, "\(edit)")
    }

    @Test("what is new or gone is said whole, and so is another order")
    func whole() throws {
        let before = try Catalog(yaml: Self.base)
        let gone = try Catalog(
            yaml: Self.base.split(separator: "\n").filter { !$0.contains("id: ai,") && !$0.hasPrefix("aliases") }
                .joined(separator: "\n"))
        #expect(
            before.changes(to: gone).map { "\($0.part) \($0.id ?? "") \($0.after ?? "gone")" }
                == ["feature ai gone", "alias ai-chat gone"])
        #expect(gone.changes(to: before).map { $0.before } == [nil, nil])
        #expect(gone.changes(to: before).first?.after?.contains("limits.pro 3 per month") == true)
        let higher = try Catalog(
            yaml: Self.base.replacing("  - id: premium\n", with: "  - id: extra\n  - id: premium\n")
                .replacing("premium:", with: "extra: yes, premium:"))
        let order = before.changes(to: higher).first { $0.part == .tier }
        #expect(order?.member == "order" && order?.after == "free, pro, extra, premium")
    }

    @Test("nothing is said exactly where both say the same, whatever their comments")
    func same() throws {
        let before = try Catalog(yaml: Self.base)
        let noted = try Catalog(yaml: "# of this year\n" + Self.base + "\n\n")
        #expect(before == noted && before.changes(to: noted).isEmpty)
        let all = try Self.edits.map {
            try Catalog(yaml: Self.base.replacing($0.was, with: $0.becomes, maxReplacements: 1))
        }
        for one in all {
            for other in all { #expect((one == other) == one.changes(to: other).isEmpty) }
        }
        // From nothing, all of it is new.
        #expect(Catalog(tiers: []).changes(to: before).contains { $0.id == "monthly" && $0.before == nil })
    }
}
