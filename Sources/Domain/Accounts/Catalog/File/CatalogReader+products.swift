import Base

extension CatalogReader {
    /// The products of a file.
    mutating func products(_ file: CatalogEntry, _ tiers: [Catalog.Tier]) -> [Catalog.Product] {
        var places: [String: Int] = [:]
        var applePlaces: [String: Int] = [:]
        return file.entries("products").compactMap { entry in
            let known = entry.text("id").map { isNew($0, entry["id"], "product", &places) }
            let name = entry.text("id").map { "product \($0)" } ?? "a product"
            if let tier = entry.text("tier") {
                requireTier(tier, entry["tier"], tiers, name)
                if tier == tiers.first?.id { warn(entry["tier"], "\(name) gives \(tier), which everybody has") }
            }
            let price = price(entry, file)
            guard var product = product(entry, file) else { return nil }
            _ = isNew("\(product.productID) of \(product.bundleID)", entry["product_id"], "product", &applePlaces)
            (product.price, product.currency) = price
            return known == true ? product : nil
        }
    }

    /// A product without its price. What cannot be read is nil, and was reported.
    private mutating func product(_ entry: CatalogEntry, _ file: CatalogEntry) -> Catalog.Product? {
        let names = texts(entry, "name")
        let description = texts(entry, "text")
        let periodNames = texts(entry, "period_name")
        let priceTexts = texts(entry, "price_text")
        let app = entry.text("app") ?? (entry["app"] == nil ? file.text("app") : nil)
        if entry["app"] == nil, file["app"] == nil {
            complain(entry.node, "a product needs app; write app: com.example.app, once for all products at the top")
        }
        let period = entry.text("period").flatMap(Catalog.Period.init(rawValue:))
        checkDuration(entry, period)
        let introductory = introductory(entry, period)
        guard let id = entry.text("id"), let productID = entry.text("product_id"), let tier = entry.text("tier"),
            let app,
            let period
        else { return nil }
        return Catalog.Product(
            id: id, productID: productID, bundleID: app, tier: tier, names: names, texts: description,
            periodNames: periodNames, priceTexts: priceTexts, period: period, lasts: entry.number("lasts"),
            sortOrder: entry.number("sort_order") ?? 0, isPopular: entry.isSet("popular"),
            group: entry.text("group"), introductory: introductory)
    }

    private mutating func checkDuration(_ entry: CatalogEntry, _ period: Catalog.Period?) {
        guard let period else { return }
        if period == .term, entry["lasts"] == nil {
            complain(entry["period"], "a term needs lasts, its days: Apple does not say them; write lasts: 30")
        }
        if period != .term, let lasts = entry["lasts"] {
            complain(lasts, "lasts is for period: term alone; how long a \(period.rawValue) lasts Apple says")
        }
    }

    /// Its price, and the currency of that and of its introductory offer's; both nil where the file has none.
    private mutating func price(_ entry: CatalogEntry, _ file: CatalogEntry) -> (Int64?, String?) {
        guard let price = entry["price"] ?? entry.entry("introductory")?["price"] else {
            if let currency = entry["currency"] {
                complain(currency, "there is a currency and no price; write price: 12.00")
            }
            return (nil, nil)
        }
        if entry["currency"] == nil, file["currency"] == nil {
            complain(price, "a price needs a currency; write currency: CNY, once for all products at the top")
        }
        let currency = entry.text("currency") ?? (entry["currency"] == nil ? file.text("currency") : nil)
        return (entry.text("price").flatMap(Catalog.milliunits), currency)
    }
}
