import Base

extension ControlAPI {
    /// What is sold: each product with the offers that a purchase of it may name, how long a period takes at the shop's speed,
    /// and its price in the United States, in thousandths of a dollar.
    func products() async -> JSONValue {
        let speed = await store.speed
        return .array(
            Catalogue.products.map { product in
                let fitted = Catalogue.product(product.id, speed) ?? product
                let isSubscription = product.kind == .autoRenewable
                return .members([
                    "productId": .string(product.id), "type": .string(product.kind.rawValue),
                    "subscriptionGroupIdentifier": product.group.map(JSONValue.string),
                    "level": isSubscription ? .integer(Int64(product.level)) : nil,
                    "periodDays": isSubscription ? .integer(product.period / .days(1)) : nil,
                    "periodSeconds": isSubscription ? .integer(fitted.period / speed.pace / 1000) : nil,
                    "price": .integer(product.dollarMilliunits), "currency": "USD",
                    "offers": .texts(isSubscription ? Catalogue.offers : []),
                ])
            })
    }
}
