/// The catalog of an operator with the simulator's app: three products in two tiers above free.
public let shopProducts = """
    app: com.example.storehook
    currency: USD
    tiers:
      - id: free
      - id: pro
      - id: premium
    products:
      - {id: basic, product_id: com.example.storehook.basic.monthly, tier: pro, period: month, price: 4.99, sort_order: 1}
      - {id: yearly, product_id: com.example.storehook.basic.yearly, tier: pro, period: year, price: 39.99, sort_order: 2}
      - {id: lifetime, product_id: com.example.storehook.lifetime.unlock, tier: premium, period: lifetime, sort_order: 3}
    """

/// The same, with features that are counted each in another way.
public let shopCatalog =
    shopProducts + """

        features:
          - id: ai
            limits: {free: no, pro: 3 per day, premium: unlimited}
          - id: words
            limits: {free: 2 in total, pro: 1000 in total, premium: unlimited}
          - id: video
            limits: {free: no, pro: no, premium: yes}
        trial:
          tier: pro
          days: 7
          products: [yearly]
        """

/// All that the simulator's customers buy by themselves, and what each product gives.
/// - Parameter seasonDays: how long the pass lasts, which does not renew itself.
public func shopLivesCatalog(seasonDays: Int64 = 20) -> String {
    """
    app: com.example.storehook
    tiers:
      - id: free
      - id: pro
      - id: premium
    products:
      - {id: weekly, product_id: com.example.storehook.basic.weekly, tier: pro, period: week}
      - {id: monthly, product_id: com.example.storehook.basic.monthly, tier: pro, period: month}
      - {id: yearly, product_id: com.example.storehook.basic.yearly, tier: pro, period: year}
      - {id: news, product_id: com.example.storehook.news.monthly, tier: pro, period: month}
      - {id: best, product_id: com.example.storehook.premium.monthly, tier: premium, period: month}
      - {id: longest, product_id: com.example.storehook.premium.yearly, tier: premium, period: year}
      - {id: lifetime, product_id: com.example.storehook.lifetime.unlock, tier: premium, period: lifetime}
      - {id: season, product_id: com.example.storehook.season.pass, tier: pro, period: term, lasts: \(seasonDays)}

    """
}
