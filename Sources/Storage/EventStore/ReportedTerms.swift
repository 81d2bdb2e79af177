import Postgres
import PurchaseStore
import Subscriptions

/// What two transactions of a subscription were sold for, which its next event may name.
struct ReportedTerms: Sendable, Hashable {
    /// That of the state last reported.
    private var present: SaleTerms?
    private var presentID: String?
    /// The latest one, where that is another: charged ahead of its beginning.
    private var latest: SaleTerms?
    private var latestID: String?

    /// Nothing is known.
    init() {}

    /// As far as they are known.
    init(_ known: [String: SaleTerms], of presentID: String?, latest latestID: String?) {
        (self.presentID, present) = (presentID, presentID.flatMap { known[$0] })
        guard let latestID, latestID != presentID, let terms = known[latestID] else { return }
        (self.latestID, latest) = (latestID, terms)
    }

    var isEmpty: Bool { present == nil && latest == nil }

    /// By transaction.
    var known: [String: SaleTerms] {
        var known: [String: SaleTerms] = [:]
        if let presentID, let present { known[presentID] = present }
        if let latestID, let latest { known[latestID] = latest }
        return known
    }

    /// Reads them behind the state that they belong to.
    init(_ fields: inout ReportedStateCodec.Reader, of presentID: String?) throws {
        (self.presentID, present) = (presentID, try SaleTerms(&fields))
        guard !fields.isAtEnd else { return }
        latestID = try fields.next()
        latest = try SaleTerms(&fields)
    }

    /// - Parameter isWhole: whether all fields are written, because further ones follow.
    func write(to fields: inout ReportedStateCodec, isWhole: Bool) {
        if isEmpty, !isWhole { return }
        SaleTerms.write(present, to: &fields)
        guard latestID != nil || isWhole else { return }
        fields.add(latestID)
        SaleTerms.write(latest, to: &fields)
    }
}

extension SaleTerms {
    /// Nil where they are not known.
    fileprivate init?(_ fields: inout ReportedStateCodec.Reader) throws {
        guard !fields.isAtEnd else { return nil }
        let quantity = try fields.nextNumber()
        self.init(
            price: try fields.nextNumber(), currency: try fields.next(), storefront: try fields.next(),
            offer: Offer(type: try fields.nextNumber(), id: try fields.next(), discountType: try fields.next()),
            quantity: quantity)
        if quantity == nil { return nil }
    }

    fileprivate static func write(_ terms: SaleTerms?, to fields: inout ReportedStateCodec) {
        fields.add(terms?.quantity)
        fields.add(terms?.price)
        fields.add(terms?.currency)
        fields.add(terms?.storefront)
        fields.add(terms?.offer?.type)
        fields.add(terms?.offer?.id)
        fields.add(terms?.offer?.discountType)
    }
}
