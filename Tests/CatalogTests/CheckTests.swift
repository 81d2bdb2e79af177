import Accounts
import Base
import Testing

@Suite("A catalog's file")
struct CheckTests {
    private static let good = """
        app: com.example.app
        currency: EUR
        tiers:
          - id: free
          - id: pro
          - id: gold
        products:
          - id: monthly
            product_id: com.example.pro.monthly
            tier: pro
            period: month
            price: 12.5
          - id: boost
            product_id: com.example.boost
            app: com.example.other
            tier: gold
            period: term
            lasts: 30
            currency: USD
            price: 3
        features:
          - id: export
            limits:
              free: no
              pro: 5 per day
              gold: unlimited
        aliases:
          csv: export
        trial:
          tier: pro
          days: 7
          products: [monthly]
        """

    @Test("says what the catalog is")
    func whole() throws {
        let catalog = try Catalog(yaml: Self.good)
        #expect(catalog.products.map(\.price) == [12_500, 3_000])
        #expect(catalog.products.map(\.currency) == ["EUR", "USD"])
        #expect(catalog.products.map(\.bundleID) == ["com.example.app", "com.example.other"])
        #expect(catalog.products.map(\.lasts) == [nil, 30])
        #expect(catalog.aliases == ["csv": "export"] && catalog.trial?.days == 7)
        #expect(catalog.feature("export")?.limit(in: "pro") == .count(5, per: .day))
        #expect(catalog.feature("export")?.limit(in: "none") == .no)
        #expect(Catalog.check(yaml: Self.good).findings.isEmpty)
    }

    /// What is put in place of what, the line that is told, and words of the message.
    private static let faults: [(of: String, to: String, line: Int, words: [String])] = [
        ("app: com.example.app\n", "app: com.example.app\nshop: x\n", 2, ["a catalog has no \"shop\"", "time_zone"]),
        ("  - id: pro\n", "  - id: pro\n    nam: Pro\n", 6, ["a tier has no \"nam\""]),
        ("    lasts: 30\n", "    last: 30\n    lasts: 30\n", 18, ["a product has no \"last\""]),
        ("    limits:\n", "    limit: x\n    limits:\n", 23, ["a feature has no \"limit\""]),
        ("  days: 7\n", "  days: 7\n  day: 7\n", 32, ["a trial has no \"day\""]),
        ("  - id: gold\n", "  - id: pro\n", 6, ["tier pro is on line 5 already"]),
        ("  - id: boost\n", "  - id: monthly\n", 13, ["product monthly is on line 8 already"]),
        (
            "com.example.boost\n    app: com.example.other\n", "com.example.pro.monthly\n", 14,
            ["com.example.pro.monthly of com.example.app is on line 9 already"]
        ),
        ("    tier: gold\n", "    tier: golden\n", 16, ["boost has tier golden", "free, pro, gold"]),
        ("    tier: gold\n", "", 13, ["a product needs tier", "tier: pro"]),
        ("  - id: pro\n", "  - name: Pro\n", 5, ["a tier needs id"]),
        ("  - id: pro\n", "  - id: Pro\n", 5, ["id is an id", "a to z"]),
        ("  - id: pro\n", "  - id: -pro\n", 5, ["a letter or digit first"]),
        ("  - id: export\n", "  - id: aus fuhr\n", 22, ["id is an id"]),
        ("    period: month\n", "    period: monthly\n", 11, ["period is one of week, month, two_months"]),
        ("    lasts: 30\n", "", 17, ["a term needs lasts"]),
        ("    period: month\n", "    period: month\n    lasts: 30\n", 12, ["period: term alone"]),
        ("    lasts: 30\n", "    lasts: 0\n", 18, ["1 to 36500"]),
        ("    price: 12.5\n", "    price: -12.5\n", 12, ["price is an amount from 0"]),
        ("    price: 12.5\n", "    price: 12.5555\n", 12, ["three decimals"]),
        ("    price: 12.5\n", "    price: 1e3\n", 12, ["three decimals"]),
        ("    currency: USD\n", "    currency: Dollar\n", 19, ["three capital letters"]),
        ("    currency: USD\n", "    currency: usd\n", 19, ["three capital letters"]),
        ("currency: EUR\n", "", 11, ["a price needs a currency"]),
        ("    price: 3\n", "", 19, ["a currency and no price"]),
        (
            "    price: 12.5\n", "    price: 12.5\n    price_text: {de: 12 €}\n", 13,
            ["price_text has no text in en", "say language"]
        ),
        ("    price: 12.5\n", "    name: {en: a, EN: b}\n", 12, ["name has", "twice"]),
        ("    price: 12.5\n", "    name: {e n: a}\n", 12, ["language tags"]),
        ("    price: 12.5\n", "    name: [a]\n", 12, ["name is a text"]),
        ("    price: 12.5\n", "    popular: maybe\n", 12, ["popular is true or false"]),
        ("    price: 12.5\n", "    sort_order: first\n", 12, ["sort_order is a whole number"]),
        ("app: com.example.app\n", "", 7, ["a product needs app"]),
        ("app: com.example.app\n", "app: com/example\n", 1, ["app is a bundle id"]),
        ("      pro: 5 per day\n", "      pro: 5 a day\n", 25, ["limits is no, yes, unlimited"]),
        ("      pro: 5 per day\n", "      pro: -5 per day\n", 25, ["limits is no, yes, unlimited"]),
        ("      pro: 5 per day\n", "      pro: 9999999999999999 per day\n", 25, ["limits is no, yes"]),
        ("      pro: 5 per day\n", "", 24, ["the limits of export do not name pro"]),
        ("      gold: unlimited\n", "      gold: unlimited\n      iron: no\n", 27, ["export has tier iron"]),
        ("  csv: export\n", "  csv: import\n", 28, ["alias csv", "no feature import"]),
        ("  csv: export\n", "  export: export\n", 28, ["export is a feature itself"]),
        ("  tier: pro\n  days", "  tier: free\n  days", 30, ["a trial of free gives nothing"]),
        ("  tier: pro\n  days", "  tier: iron\n  days", 30, ["a trial has tier iron"]),
        ("  days: 7\n", "  days: 0\n", 31, ["days is a whole number from 1 to 366"]),
        ("  days: 7\n", "", 30, ["a trial needs days"]),
        ("[monthly]", "[monthly, weekly]", 32, ["weekly", "no product"]),
        ("[monthly]", "[monthly, monthly]", 32, ["monthly is on line 32 already"]),
        ("currency: EUR\n", "currency: EUR\ntime_zone: Mars/Olympus\n", 3, ["no time zone \"Mars/Olympus\""]),
        ("currency: EUR\n", "currency: EUR\ntime_zone: PST\n", 3, ["no time zone \"PST\""]),
        ("currency: EUR\n", "currency: EUR\ntime_zone: GMT+8\n", 3, ["no time zone \"GMT+8\""]),
        ("currency: EUR\n", "currency: EUR\nreporting_currency: EUX\n", 3, ["no currency \"EUX\"", "like EUR"]),
        ("currency: EUR\n", "currency: EUR\nreporting_currency: euro\n", 3, ["three capital letters"]),
        ("currency: EUR\n", "currency: EUR\nwarning_days: 400\n", 3, ["0 to 365"]),
        ("currency: EUR\n", "currency: EUR\nlanguage: english-\n", 3, ["language is a language tag"]),
        ("tiers:\n", "tires:\n", 3, ["a catalog has no \"tires\""]),
        ("aliases:\n  csv: export\n", "aliases: [csv]\n", 27, ["aliases is a mapping"]),
        (
            "    tier: gold\n", "    tier: gold\n    introductory: {type: free_trial, duration: 7 days}\n", 17,
            ["introductory is for what renews itself", "a term does not"]
        ),
        ("    tier: gold\n", "    tier: gold\n    group: 21752814\n", 17, ["group is for what renews itself"]),
        (
            "    price: 12.5\n", "    introductory: {type: free, duration: 7 days}\n", 12,
            ["type is one of free_trial, pay_up_front, pay_as_you_go"]
        ),
        ("    price: 12.5\n", "    introductory: {type: free_trial}\n", 12, ["an introductory offer needs duration"]),
        ("    price: 12.5\n", "    introductory: {duration: 7 days}\n", 12, ["needs type", "type: free_trial"]),
        (
            "    price: 12.5\n", "    introductory: {type: free_trial, duration: a week}\n", 12,
            ["duration is so many days, weeks, months or years, like 7 days"]
        ),
        (
            "    price: 12.5\n", "    introductory: {type: free_trial, duration: 0 days}\n", 12, ["duration is so many"]
        ),
        (
            "    price: 12.5\n", "    introductory: {type: free_trial, duration: 7 days, price: 1}\n", 12,
            ["a free_trial costs nothing"]
        ),
        (
            "    price: 12.5\n", "    introductory: {type: pay_up_front, duration: 1 month}\n", 12,
            ["a pay_up_front needs price"]
        ),
        (
            "    price: 12.5\n", "    introductory: {type: pay_as_you_go, duration: 1 month, price: 0.00}\n", 12,
            ["costs nothing is type: free_trial"]
        ),
        ("    price: 12.5\n", "    group: pro group\n", 12, ["group is Apple's id of a subscription group"]),
        (
            "trial:\n", "trial: 7\nx:\n", 29,
            ["a trial has members: tier, days, products", "write {tier: pro, days: 7}"]
        ),
        ("  - id: pro\n", "  - pro\n", 5, ["a tier has members: id, name; write {id: pro}"]),
        (
            "products:\n", "products: 5\nx:\n", 7,
            [
                "products is a list of 0 to 2000; write below it a line for each, like - {id: monthly, product_id: "
                    + "com.example.pro.monthly, tier: pro, period: month}, or products: []"
            ]
        ),
        ("[monthly]", "monthly", 32, ["products is a list of 0 to 2000; write products: [a, b], or products: []"]),
        (
            "    limits:\n      free: no\n      pro: 5 per day\n      gold: unlimited\n", "    limits: all\n", 23,
            ["limits is a mapping of 1 to 100, like limits: {free: no, pro: yes}"]
        ),
        (
            "  - id: pro\n", "  - id: pro\n    name:\n", 6,
            ["name is a text of 1 to 200", "write name: Monthly, or name: {en"]
        ),
        ("    tier: gold\n", "    tier: golden\n", 16, ["write one of them, or add it to tiers"]),
    ]

    @Test("is refused with the line and what to write, whatever is wrong in it", arguments: faults)
    func refused(of: String, to: String, line: Int, words: [String]) throws {
        let text = Self.good.replacing(of, with: to, maxReplacements: 1)
        try #require(text != Self.good, "\(of)")
        let (catalog, findings) = Catalog.check(yaml: text)
        #expect(catalog == nil)
        let errors = findings.filter { $0.severity == .error }
        #expect(
            errors.contains { finding in finding.line == line && words.allSatisfy(finding.message.contains) },
            "\(findings)")
        #expect(findings.allSatisfy { !$0.description.contains("\n") })
        #expect(throws: CatalogFault(errors)) { try Catalog(yaml: text) }
    }

    private static let warnings: [(of: String, to: String, line: Int, words: [String])] = [
        (
            "      gold: unlimited\n", "      gold: 4 per day\n", 26,
            ["falls from 5 per day in pro to 4 per day in gold"]
        ),
        ("      gold: unlimited\n", "      gold: no\n", 26, ["falls from 5 per day in pro to no"]),
        ("      gold: unlimited\n", "      gold: 0 in total\n", 26, ["falls from"]),
        ("      gold: unlimited\n", "      gold: 139 per month\n", 26, ["falls from"]),
        ("      free: no\n", "      free: yes\n", 25, ["falls from yes in free to 5 per day in pro"]),
        ("      free: no\n", "      free: 156 per month\n", 25, ["falls from 156 per month"]),
        ("      free: no\n", "      free: 3 in total\n", 24, ["in total in free and by time in pro"]),
        ("    tier: gold\n", "    tier: free\n", 16, ["boost gives free, which everybody has"]),
        (
            "    price: 12.5\n", "    introductory: {type: free_trial, duration: 5 days}\n", 12,
            ["Apple has no free trial of 5 days"]
        ),
        (
            "    price: 12.5\n", "    introductory: {type: pay_as_you_go, duration: 2 weeks, price: 1}\n", 12,
            ["2 weeks is no number of a month"]
        ),
    ]

    @Test("is used with a warning where a higher tier gives less, or what is meant is doubtful", arguments: warnings)
    func warned(of: String, to: String, line: Int, words: [String]) throws {
        let text = Self.good.replacing(of, with: to, maxReplacements: 1)
        try #require(text != Self.good, "\(of)")
        let (catalog, findings) = Catalog.check(yaml: text)
        #expect(catalog != nil && findings.count == 1 && findings.first?.severity == .warning, "\(findings)")
        #expect(findings.first?.line == line, "\(findings)")
        let message = findings.first?.message ?? ""
        #expect(words.allSatisfy(message.contains), "\(message)")
    }

    @Test(
        "has no warning where nothing falls",
        arguments: ["5 per day", "yes", "140 per month", "155 per month", "unlimited"])
    func rising(gold: String) {
        let text = Self.good.replacing("gold: unlimited", with: "gold: \(gold)")
        #expect(Catalog.check(yaml: text).findings.isEmpty)
    }

    @Test("has everything told that is wrong in it, in the order of the lines")
    func all() {
        let text = Self.good
            .replacing("  - id: gold\n", with: "  - id: pro\n    x: 1\n")
            .replacing("period: month\n", with: "period: moon\n")
            .replacing("currency: USD", with: "currency: dollar")
            .replacing("csv: export", with: "csv: import")
            .replacing("days: 7", with: "days: seven")
        let (catalog, findings) = Catalog.check(yaml: text)
        #expect(catalog == nil)
        #expect(findings.compactMap(\.line) == findings.compactMap(\.line).sorted())
        // The two lines of the tier, gold in a product, in the limits; and one each.
        #expect(findings.map(\.line) == [6, 7, 12, 17, 20, 27, 29, 32], "\(findings)")
        let fault = CatalogFault(findings)
        #expect(fault.description.hasPrefix("line 6, column 9: tier pro is on line 5 already; and 7 more"))
    }

    @Test("with a tab in the indentation is refused with the tab's place and what to write")
    func tabs() {
        for (text, line, column) in [
            ("tiers:\n\t- id: free", 2, 1), ("tiers:\n  - id: free\n  \tname: Free\n", 3, 3),
            ("tiers:\r\n  - id: free\r\n\tname: Free\r\n", 3, 1),
        ] {
            let (catalog, findings) = Catalog.check(yaml: text)
            let finding = findings.first
            #expect(
                catalog == nil && findings.count == 1 && finding?.line == line && finding?.column == column,
                "\(findings)")
            #expect(
                finding?.message
                    == "this is not YAML: a tab stands in the indentation; write two spaces for each level, like   - id: pro"
            )
        }
        let (_, others) = Catalog.check(yaml: "tiers: [a\tb")
        #expect(
            others.first?.message.contains("a tab") == false && others.first?.message.contains("; look here") == true)
    }

    @Test("whose tiers cannot be read has that reported, and no list of no tiers beside it")
    func noTiers() {
        for tiers in ["tiers:\n  - name: Pro", "tiers:\n  - {id: Pro}", "tiers: pro", "tiers: {pro: x}", "x: 1"] {
            let text = Self.good.replacing("tiers:\n  - id: free\n  - id: pro\n  - id: gold", with: tiers)
            let (catalog, findings) = Catalog.check(yaml: text)
            #expect(catalog == nil && (1...3).contains(findings.count), "\(tiers): \(findings)")
            #expect(findings.allSatisfy { !$0.message.contains("()") && !$0.message.contains("none of the tiers") })
        }
    }

    @Test("that is no YAML, empty, or no mapping is refused")
    func noCatalog() {
        for (text, words) in [
            ("", "empty"), ("# nothing\n", "empty"), ("- a", "a catalog has members"),
            ("tiers", "a catalog has members"),
            ("tiers: [", "this is not YAML"), ("tiers: []\n---\ntiers: []", "this is not YAML"),
            ("tiers: []", "tiers is a list of 1 to 100"), ("tiers:\n  - id: a\ntiers:\n  - id: b\n", "twice"),
            ("{}", "a catalog needs tiers"), ("tiers: {id: free}", "tiers is a list"),
            ("tiers: [free]", "a tier has members"), ("tiers:\n\t- id: free", "this is not YAML"),
        ] {
            let (catalog, findings) = Catalog.check(yaml: text)
            #expect(catalog == nil && findings.contains { $0.message.contains(words) }, "\(text): \(findings)")
        }
    }

    @Test("may have any text for people, as long as it is one")
    func texts() throws {
        let text = Self.good.replacing(
            "    price: 12.5\n", with: "    name: |\n      Tom & Jerry *now*,\n      \"R&D\" 包月\n")
        #expect(try Catalog(yaml: text).products[0].names?[["de"]] == "Tom & Jerry *now*,\n\"R&D\" 包月\n")
    }
}
