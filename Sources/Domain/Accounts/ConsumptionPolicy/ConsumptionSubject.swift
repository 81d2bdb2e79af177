public import AppStorePayloads
public import Base

/// The part of Apple's request for consumption data that a policy looks at.
public struct ConsumptionSubject: Sendable, Hashable {
    /// The app's bundle id.
    public var app: String
    /// Where it was bought.
    public var environment: Environment
    /// What was bought; nil where the transaction does not say.
    public var product: String?
    /// Its kind; nil where the transaction does not say.
    public var type: ProductType?
    /// Why the customer wants the money back; nil where Apple does not say.
    public var reason: ConsumptionRequestReason?

    /// A subject of these parts.
    public init(
        app: String, environment: Environment, product: String?, type: ProductType?, reason: ConsumptionRequestReason?
    ) {
        self.app = app
        self.environment = environment
        self.product = product
        self.type = type
        self.reason = reason
    }
}
