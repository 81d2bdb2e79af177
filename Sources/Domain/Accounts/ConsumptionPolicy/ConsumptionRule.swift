public import AppStorePayloads
public import Base

/// A rule of a ``ConsumptionPolicy``: what it fits, and what it says. A condition that is not there fits everything.
public struct ConsumptionRule: Sendable, Hashable {
    /// Products by their ids, or by how their ids begin.
    public enum Product: Sendable, Hashable {
        /// This one.
        case exactly(String)
        /// Those whose ids begin so.
        case beginning(String)

        func fits(_ product: String) -> Bool {
            switch self {
            case .exactly(let name): product == name
            case .beginning(let start): product.hasPrefix(start)
            }
        }
    }

    /// What a rule says.
    public enum Verdict: Sendable, Hashable {
        /// Nothing is sent: Apple decides by itself.
        case leaveToApple
        /// This is sent, with the customer's consent.
        case answer(ConsumptionAnswer)
    }

    /// Its place in the policy, from 1 on.
    public var number: Int
    /// What the operator calls it.
    public var name: String?
    /// The products; nil: all.
    public var products: [Product]?
    /// The kinds of product; nil: all.
    public var types: Set<ProductType>?
    /// The customer's reasons; nil: all, and none given.
    public var reasons: Set<ConsumptionRequestReason>?
    /// The environments; nil: all.
    public var environments: Set<Environment>?
    /// The apps' bundle ids; nil: all.
    public var apps: Set<String>?
    /// What it says.
    public var verdict: Verdict

    /// A rule without conditions.
    public init(number: Int, name: String? = nil, verdict: Verdict) {
        self.number = number
        self.name = name
        self.verdict = verdict
    }

    /// Whether it speaks about this. What is not known fits no condition.
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

    /// Whether it fits everything, so that no rule after it is ever asked.
    public var fitsEverything: Bool {
        products == nil && types == nil && reasons == nil && environments == nil && apps == nil
    }
}
