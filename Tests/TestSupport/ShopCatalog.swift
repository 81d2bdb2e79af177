/// What an operator sells who has the simulator's app: three products in two tiers above free, and features that are counted each
/// in another way.
public let shopCatalog = """
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
