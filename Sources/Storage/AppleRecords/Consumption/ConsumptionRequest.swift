package import Accounts
import AppStorePayloads
import Base
package import Postgres
import Subscriptions

/// A claimed request of Apple's for consumption data, with what was known when it was claimed.
package struct ConsumptionRequest: ScopedRow, Hashable {
    /// The claim, with its app and environment.
    package var claim: ScopedClaim
    /// What it is about; nil where the notification names none.
    package var transactionID: String?
    /// Whether that transaction is known here.
    package var isTransactionKnown: Bool
    /// Whether the purchase names an account.
    package var hasAccount: Bool
    /// Whether the customer consented when it was claimed; nil where nothing was ever recorded.
    package var consent: Bool?
    /// Whether the customer bought it, rather than a family or a team that shares it.
    package var isPurchased: Bool
    /// What a policy looks at.
    package var subject: ConsumptionSubject
    /// Twelve hours after Apple signed the request.
    package var deadline: PostgresTimestamp
    /// How long is left until then.
    package var timeLeft: Duration
    /// What staff decided about a refund of it, or are about to decide; nil where no request says anything.
    package var refund: RefundDecision?
    /// Whether sending an answer was begun before, with an unknown result.
    package var isBegun: Bool

    init(_ row: PostgresRow, _ claim: ScopedClaim) throws {
        self.claim = claim
        transactionID = try row.decode("transaction_id")
        isTransactionKnown = try row.decode("is_known")
        hasAccount = try row.decode("has_account")
        consent = try row.decode("granted")
        let ownership = try row.decode("ownership", as: String?.self)
        isPurchased = ownership == nil || ownership == OwnershipType.purchased.rawValue
        subject = ConsumptionSubject(
            app: claim.scope.bundleID, environment: Environment(rawValue: claim.scope.environment),
            product: try row.decode("product_id"),
            type: try row.decode("kind", as: String?.self).map(ProductType.init(rawValue:)),
            reason: try row.decode("reason", as: String?.self).map(ConsumptionRequestReason.init(rawValue:)))
        deadline = try row.decode("deadline")
        timeLeft = .seconds(try row.decode("seconds_left", as: Double.self))
        isBegun = try row.decode("is_begun")
        refund = try RefundDecision(row)
    }
}
