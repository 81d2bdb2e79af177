public import Base
public import Subscriptions

/// A purchase and product that count for an account, and the time in which they do.
///
/// A purchase counts while the account owns it, it gives access, the catalog knows its product, and staff has not ended it: by a
/// block, or by a change to the lowest tier, which everybody has. Other acts of staff neither add nor take any.
public struct AccountHolding: Sendable, Hashable, Comparable {
    /// The purchase.
    public var purchase: PurchaseKey
    /// Apple's id of the product.
    public var productID: String
    /// From when on it counts.
    public var startsAt: Timestamp
    /// Until when; nil where it has no end.
    public var endsAt: Timestamp?

    /// Memberwise.
    public init(purchase: PurchaseKey, productID: String, startsAt: Timestamp, endsAt: Timestamp?) {
        self.purchase = purchase
        self.productID = productID
        self.startsAt = startsAt
        self.endsAt = endsAt
    }

    /// By their beginnings, so that they have one order.
    public static func < (a: Self, b: Self) -> Bool {
        (a.startsAt, a.purchase, a.productID) < (b.startsAt, b.purchase, b.productID)
    }

    /// Whether it counts at an instant.
    public func counts(at instant: Timestamp) -> Bool {
        startsAt <= instant && endsAt.map { instant < $0 } ?? true
    }
}

/// Gathers holdings out of what counts at one instant after the other.
struct AccountHoldings {
    /// Few: searched from the beginning.
    private var open: [AccountHolding] = []
    private var ended: [AccountHolding] = []

    /// What counts from an instant on.
    mutating func count(_ counting: [(purchase: PurchaseKey, productID: String)], from instant: Timestamp) {
        open.removeAll { holding in
            if counting.contains(where: { $0.purchase == holding.purchase && $0.productID == holding.productID }) {
                return false
            }
            var holding = holding
            holding.endsAt = instant
            ended.append(holding)
            return true
        }
        for (purchase, productID) in counting
        where !open.contains(where: { $0.purchase == purchase && $0.productID == productID }) {
            open.append(AccountHolding(purchase: purchase, productID: productID, startsAt: instant, endsAt: nil))
        }
    }

    /// All of them, in order.
    var all: [AccountHolding] { (ended + open).sorted() }
}
