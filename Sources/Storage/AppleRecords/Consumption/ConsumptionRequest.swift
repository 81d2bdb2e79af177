package import Accounts
import AppStorePayloads
package import Base
package import EvidenceStore
package import Postgres

/// A claimed request of Apple's for consumption data, with what was known when it was claimed.
package struct ConsumptionRequest: Sendable, Hashable {
    /// Its number.
    package var id: Int64
    /// Whose it is.
    package var scope: AppEnvironment
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
    /// Whether somebody before has begun to tell Apple and nobody knows how that ended.
    package var isBegun: Bool
    /// Claims so far, this one included.
    package var attempts: Int
    /// Who holds it.
    package var lease: Lease

    init(_ row: PostgresRow, _ lease: Lease) throws {
        id = try row.decode("id")
        scope = AppEnvironment(bundleID: try row.decode("bundle_id"), environment: try row.decode("environment"))
        transactionID = try row.decode("transaction_id")
        isTransactionKnown = try row.decode("is_known")
        hasAccount = try row.decode("has_account")
        consent = try row.decode("granted")
        let ownership = try row.decode("ownership", as: String?.self)
        isPurchased = ownership == nil || ownership == OwnershipType.purchased.rawValue
        subject = ConsumptionSubject(
            app: scope.bundleID, environment: Environment(rawValue: scope.environment),
            product: try row.decode("product_id"),
            type: try row.decode("kind", as: String?.self).map(ProductType.init(rawValue:)),
            reason: try row.decode("reason", as: String?.self).map(ConsumptionRequestReason.init(rawValue:)))
        deadline = try row.decode("deadline")
        timeLeft = .seconds(try row.decode("seconds_left", as: Double.self))
        isBegun = try row.decode("is_begun")
        attempts = Int(try row.decode("attempts", as: Int16.self))
        self.lease = lease
    }
}
