import Accounts
import Base

/// The words of the Readmigo dialect (`/subscriptions/…` and `/usage/…`), as the apps of that backend know them.
enum ReadmigoWords {
    /// The statuses of that document, and two for what it lacks.
    static let statuses = [
        "ACTIVE", "EXPIRED", "CANCELLED", "GRACE_PERIOD", "TRIAL", "TRIAL_EXPIRED", "FREE", "REVOKED",
    ]

    /// One of them.
    static func status(_ status: AccountStatus) -> String { status.rawValue.uppercased() }

    /// One of them. After a failed charge and its grace period it is EXPIRED: the document has no other word.
    static func status(_ status: PurchaseStatus) -> String {
        status == .billingRetry ? "EXPIRED" : status.rawValue.uppercased()
    }

    /// The sources of that document; what staff give is a PROMO_CODE there. Google Play is not served.
    static let sources = ["APPLE_IAP", "PROMO_CODE", "TRIAL", "NONE"]

    /// One of them.
    static func source(_ source: AccountSource) -> String {
        switch source {
        case .apple: "APPLE_IAP"
        case .grant: "PROMO_CODE"
        case .trial: "TRIAL"
        case .none: "NONE"
        }
    }

    /// What was bought, in the words of the client's document, and words of their kind for what it does not sell.
    static let purchaseTypes = ["none"] + Catalog.Period.allCases.map { purchaseType($0) }

    /// One of them.
    static func purchaseType(_ period: Catalog.Period?) -> String {
        switch period {
        case nil: "none"
        case .week: "weekly"
        case .month: "monthly"
        case .twoMonths: "bimonthly"
        case .quarter: "quarterly"
        case .halfYear: "half_yearly"
        case .year: "annual"
        case .lifetime: "lifetime"
        case .term: "term"
        }
    }
}
