package import Accounts
import AppStorePayloads
package import Base

/// An account at one instant, as answers tell of it.
package struct AccountPicture: Sendable, Hashable {
    /// What the app calls it.
    package var account: String
    /// The appAccountToken to buy with.
    package var token: UniqueIdentifier
    /// The environment in question, in Apple's word.
    package var environment: String
    /// Grows with each change; 0 where nothing was ever heard of it.
    package var version: Int64
    /// The instant.
    package var instant: Timestamp
    /// What it has.
    package var tier: String
    /// In one word.
    package var status: AccountStatus
    /// What gives it that tier.
    package var source: AccountSource
    /// Whether it has more than everybody has.
    package var access: Bool
    /// When that ends; nil where it never does, and where there is none: then it is when it ended, if it did.
    package var expiresAt: Timestamp?
    /// Whether it goes on then by itself, as far as is known.
    package var willRenew: Bool
    /// Its purchases. The one that the status comes from is the first; then those with access, then the others, the latest first.
    package var subscriptions: [SubscriptionPicture]
    /// The app's own trial; nil where none was started.
    package var trial: TrialPicture?

    /// An account.
    package init(
        account: String, token: UniqueIdentifier, environment: String, version: Int64, instant: Timestamp, tier: String,
        status: AccountStatus, source: AccountSource, access: Bool, expiresAt: Timestamp? = nil,
        willRenew: Bool = false, subscriptions: [SubscriptionPicture] = [], trial: TrialPicture? = nil
    ) {
        self.account = account
        self.token = token
        self.environment = environment
        self.version = version
        self.instant = instant
        self.tier = tier
        self.status = status
        self.source = source
        self.access = access
        self.expiresAt = expiresAt
        self.willRenew = willRenew
        self.subscriptions = subscriptions
        self.trial = trial
    }

    /// The purchase that tells most: the one that the status comes from, else the one with access or the latest; nil where there
    /// is none.
    package var subscription: SubscriptionPicture? { subscriptions.first }

    /// The days that are left, each that has begun counted; nil without access and where there is no end.
    package var daysLeft: Int64? { access ? expiresAt?.daysLeft(at: instant) : nil }

    /// Whether access ends within so many days and is not about to go on by itself. A payment that failed may fail until the end.
    package func isExpiringSoon(within days: Int) -> Bool {
        guard access, !willRenew || status == .gracePeriod, let expiresAt else { return false }
        return expiresAt <= instant.adding(days: Int64(days))
    }
}

extension Timestamp {
    /// The days of 24 hours from an instant to this one, each that has begun counted; 0 where it is over.
    func daysLeft(at instant: Timestamp) -> Int64 {
        let left = max(0, milliseconds(since: instant))
        return left / 86_400_000 + (left % 86_400_000 > 0 ? 1 : 0)
    }
}
