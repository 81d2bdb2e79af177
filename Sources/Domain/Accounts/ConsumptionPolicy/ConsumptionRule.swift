public import AppStorePayloads
public import Base

/// A rule of a ``ConsumptionPolicy``: its conditions and its verdict. A missing condition matches everything.
public struct ConsumptionRule: Sendable, Hashable {
    /// Products by their ids, or by a prefix of them.
    public enum Product: Sendable, Hashable {
        /// This one.
        case exactly(String)
        /// Those whose ids have this prefix.
        case beginning(String)

        func fits(_ product: String) -> Bool {
            switch self {
            case .exactly(let name): product == name
            case .beginning(let start): product.hasPrefix(start)
            }
        }
    }

    /// The verdict of a rule.
    public enum Verdict: Sendable, Hashable {
        /// Nothing is sent: Apple decides by itself.
        case leaveToApple
        /// This is sent, with the customer's consent.
        case answer(ConsumptionAnswer)
    }

    /// Its place in the policy, from 1 on.
    public var number: Int
    /// The operator's name for it.
    public var name: String?
    /// The products; nil: all.
    public var products: [Product]?
    /// The kinds of product; nil: all.
    public var types: Set<ProductType>?
    /// The customer's reasons; nil: all, and a missing one.
    public var reasons: Set<ConsumptionRequestReason>?
    /// The environments; nil: all.
    public var environments: Set<Environment>?
    /// The apps' bundle ids; nil: all.
    public var apps: Set<String>?
    /// Its verdict.
    public var verdict: Verdict

    /// A rule without conditions.
    public init(number: Int, name: String? = nil, verdict: Verdict) {
        self.number = number
        self.name = name
        self.verdict = verdict
    }

    /// Whether it matches a request. An unknown value matches no condition.
    public func fits(_ subject: ConsumptionSubject) -> Bool {
        func fits<Value>(_ wanted: Set<Value>?, _ value: Value?) -> Bool {
            wanted.map { wanted in value.map(wanted.contains) ?? false } ?? true
        }
        if let products {
            guard let product = subject.product, products.contains(where: { $0.fits(product) }) else { return false }
        }
        return fits(types, subject.type) && fits(reasons, subject.reason) && fits(environments, subject.environment)
            && fits(apps, subject.app)
    }

    /// Whether it matches everything, so that no later rule ever applies.
    public var fitsEverything: Bool {
        products == nil && types == nil && reasons == nil && environments == nil && apps == nil
    }
}
