import Accounts
import Foundation
import TestSupport
import Testing
import Yams

@Suite("The schema of a catalog's file")
struct SchemaTests {
    private func validator() throws -> SchemaValidator { try SchemaValidator(Catalog.schema()) }

    @Test("is what stands beside the examples")
    func file() throws {
        let file = Example.directory.appending(path: "catalog.schema.json")
        #expect(
            try String(contentsOf: file, encoding: .utf8) == Catalog.schema() + "\n",
            "write it anew: storehook catalog schema > deploy/catalogs/catalog.schema.json")
    }

    @Test("fits each example, and each says where it is")
    func examples() throws {
        for example in Example.allCases {
            let text = try example.text()
            #expect(text.hasPrefix("# yaml-language-server: $schema=catalog.schema.json\n"))
            let node = try #require(try Yams.compose(yaml: text))
            #expect(try validator().faults(of: node).isEmpty, "\(example)")
        }
    }

    /// Every member that there is, and for each a value that is good.
    private static let whole = """
        language: en
        time_zone: Europe/Berlin
        reporting_currency: EUR
        fiscal_months: true
        warning_days: 3
        app: com.example.app
        currency: EUR
        tiers: [{id: free, name: Free}, {id: pro, name: {en: Pro, de: Profi}}]
        products:
          - {id: a, product_id: com.example.a, app: com.example.b, tier: pro, period: term, lasts: 30, name: A, text: B,
             period_name: C, price: 1.00, currency: USD, price_text: D, sort_order: 1, popular: true}
          - {id: b, product_id: com.example.c, tier: pro, period: month, group: 21752814,
             introductory: {type: pay_up_front, duration: 3 months, price: 2.50}}
        features: [{id: f, name: F, unit: G, limits: {free: 5 per day, pro: 10 per day}}]
        aliases: {g: f}
        trial: {tier: pro, days: 7, products: [a]}
        refunds:
          - {name: N, products: [com.example.*], types: [consumable], reasons: [OTHER], environments: [Production],
             apps: [com.example.b],
             answer: {delivery_status: DELIVERED, sample_content_provided: false, consumption_percentage: 50%,
                      refund_preference: DECLINE}}
        """

    @Test("and the reader know the same members, need the same of them, and refuse the same values of each")
    func agreement() throws {
        let validator = try validator()
        let whole = try #require(try Yams.compose(yaml: Self.whole))
        #expect(Catalog.check(yaml: Self.whole).findings.isEmpty && validator.faults(of: whole).isEmpty)
        #expect(Set(validator.memberNames) == Set(Self.memberNames(in: whole)), "a member has no value in this test")
        func agree(_ node: Node, _ what: String, but: (String) -> Bool = { _ in false }) throws {
            let text = try Yams.serialize(node: node)
            let findings = Catalog.check(yaml: text).findings.filter { $0.severity == .error }
            let faults = validator.faults(of: node).filter { !but($0) }
            // What a schema cannot say, that a tier is there or a term has its days, only the reader finds.
            if !faults.isEmpty { #expect(!findings.isEmpty, "\(what): the schema alone says \(faults)") }
            let structural = findings.filter { finding in
                [
                    "has no \"", "needs id", "needs product_id", "needs tier", "needs period", "needs limits",
                    "needs days", "needs type", "needs duration", "needs answer", "needs delivery_status",
                    "needs sample_content_provided",
                ]
                .contains(where: finding.message.contains)
            }
            if !structural.isEmpty { #expect(!faults.isEmpty, "\(what): the reader alone says \(structural)") }
        }
        var generator = SeededGenerator()
        for (path, key) in Self.places(in: whole) {
            try agree(Self.changing(whole, path) { $0[key] = nil }, "without \(path + [key])")
            try agree(Self.changing(whole, path) { $0[Node("un" + (key.string ?? ""))] = "x" }, "more at \(path)")
            let values = ["", "x y", "-1", "ß", "1.5", "true", "9999999"]
            for value in sampled(values, oneIn: 3, using: &generator) {
                // A text may be written like a number; only editors want it in quotes.
                try agree(Self.changing(whole, path) { $0[key] = Node(value) }, "\(path + [key]) as \(value)") {
                    $0.contains("is no [") || $0.contains("fits 0")
                }
            }
            try agree(Self.changing(whole, path) { $0[key] = Node([Node("x")]) }, "\(path + [key]) as a list")
            try agree(
                Self.changing(whole, path) { $0[key] = Node([(Node("x"), Node("y"))]) }, "\(path + [key]) as a map")
        }
    }

    // MARK: Nodes

    private static func memberNames(in node: Node, below name: String = "") -> [String] {
        if let items = node.sequence { return items.flatMap { memberNames(in: $0, below: name) } }
        guard let mapping = node.mapping, !["limits", "aliases", "name"].contains(name) else { return [] }
        return mapping.flatMap { key, value in
            [key.string ?? ""] + memberNames(in: value, below: key.string ?? "")
        }
    }

    /// Each member of each mapping: where the mapping is, and the member's name.
    private static func places(in node: Node, at path: [Node] = []) -> [(path: [Node], key: Node)] {
        if let items = node.sequence {
            return items.enumerated().flatMap { places(in: $1, at: path + [Node(String($0))]) }
        }
        guard let mapping = node.mapping else { return [] }
        return mapping.flatMap { key, value in [(path, key)] + places(in: value, at: path + [key]) }
    }

    private static func changing(
        _ node: Node, _ path: [Node], _ change: (inout Node.Mapping) -> Void
    ) -> Node {
        var node = node
        guard let step = path.first else {
            if var mapping = node.mapping {
                change(&mapping)
                node.mapping = mapping
            }
            return node
        }
        let rest = Array(path.dropFirst())
        if var items = node.sequence, let index = step.string.flatMap({ Int($0) }) {
            items[index] = changing(items[index], rest, change)
            node.sequence = items
        } else if var mapping = node.mapping, let inner = mapping[step] {
            mapping[step] = changing(inner, rest, change)
            node.mapping = mapping
        }
        return node
    }
}
