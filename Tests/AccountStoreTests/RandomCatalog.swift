import TestSupport

/// A catalog of what `SimulatedState` sells, to be changed at random.
struct RandomCatalog {
    private struct Product {
        var apple: String
        var app: String
        var tier: String?
        var price = 1
        var lasts = 30
    }

    private var tiers = ["free", "basic", "plus", "premium"]
    private var added = 0
    private var products: [Product]

    init(_ generator: inout SeededGenerator) {
        let ids = [
            "basic.monthly", "basic.yearly", "plus.monthly", "plus.yearly", "news.monthly", "lifetime", "level.pack",
            "coins.100", "coins.500", "season.pass",
        ]
        products = ["com.example.first", "com.example.second"].flatMap { app in
            ids.map { Product(apple: $0, app: app, tier: "basic") }
        }
        for index in products.indices { products[index].tier = tiers.randomElement(using: &generator) }
    }

    /// Another tier, a product more or fewer, a tier more or fewer, another order, another term, or what changes no account.
    mutating func change(_ generator: inout SeededGenerator) {
        let place = Int.random(in: products.indices, using: &generator)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<10: products[place].tier = tiers.randomElement(using: &generator)
        case 10..<13: products[place].tier = products[place].tier == nil ? tiers.last : nil
        case 13, 14:
            for index in products.indices where products[index].apple == "season.pass" {
                products[index].lasts = [7, 30, 45, 90].randomElement(using: &generator) ?? 30
            }
        case 15, 16:
            added += 1
            tiers.insert("tier\(added)", at: Int.random(in: 1...tiers.count, using: &generator))
            products[place].tier = "tier\(added)"
        case 17:
            // Granted tiers go, too.
            let used = Set(products.compactMap(\.tier))
            tiers.removeAll { $0 != "free" && !used.contains($0) }
        case 18: tiers.swapAt(tiers.count - 1, tiers.count - 2)
        default: products[place].price += 1
        }
    }

    var text: String {
        let sold = products.enumerated().compactMap { number, product in
            product.tier.map { tier in
                let period =
                    product.apple == "season.pass"
                    ? "term, lasts: \(product.lasts)" : product.apple.contains(".m") ? "month" : "lifetime"
                return "  - {id: p\(number), product_id: \(product.apple), app: \(product.app), tier: \(tier), "
                    + "price: \(product.price), currency: EUR, period: \(period)}"
            }
        }
        return (["tiers:"] + tiers.map { "  - id: \($0)" } + (sold.isEmpty ? [] : ["products:"] + sold))
            .joined(separator: "\n") + "\n"
    }
}
