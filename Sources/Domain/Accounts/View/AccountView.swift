package import Base
import Subscriptions

/// An account at one instant. Each surface writes it under its own names (``AccountShapes``).
package struct AccountView: Sendable, Hashable {
    /// The account.
    package var token: UniqueIdentifier
    /// What the app's own tokens call it; nil where none has named it.
    package var account: String?
    /// Apple's name of the environment.
    package var environment: String
    /// The instant; the database's clock where none was asked for.
    package var instant: Timestamp { didSet { current = state.value(at: instant) } }
    /// The catalog; nil where none was ever applied.
    package var catalog: Catalog?
    /// Its number.
    package var catalogVersion: Int64?
    /// Grows with every change of the phases; 0 where nothing was ever heard of the account.
    package var version: Int64
    /// What it is, as a function of time.
    package var state: AccountState { didSet { current = state.value(at: instant) } }
    /// What it is at the instant; worked out once, since an answer names it a dozen times.
    package private(set) var current: AccountPhase
    /// Its purchases: the one that gives the status, then those with access, then the others; within each, the last to end first.
    /// In a history also those that another account owns now, in the order of their keys.
    package var purchases: [SubscriptionView]
    /// The app's own trial, if it has had it.
    package var trial: StartedTrial?
    /// What staff did, by then and later, in order; only in a history.
    package var acts: [RecordedAct]
    /// When it was erased; everything before is forgotten.
    package var erasedAt: Timestamp?
    /// Up to when it holds all that Apple has posted in its environment, by Apple's own history; nil without proof.
    package var provenUntil: Timestamp?
    /// Whether its id is kept, so that events name it, or is not to be, because the person was erased; nil where that was not asked for.
    package var isNamed: Bool?
    /// By what had been applied and recorded at that instant it is so; nil for all that is known now.
    package var knownAt: Timestamp?

    /// An act of staff, with its record.
    package struct RecordedAct: Sendable, Hashable {
        /// What, and when.
        package var act: StaffAct
        /// Who did it; nil where the account was erased since.
        package var person: String?
        /// Why; likewise.
        package var why: String?

        /// An act.
        package init(_ act: StaffAct, by person: String?, why: String?) {
            self.act = act
            self.person = person
            self.why = why
        }
    }

    /// An account.
    package init(
        token: UniqueIdentifier, account: String? = nil, environment: String, instant: Timestamp,
        catalog: Catalog? = nil, catalogVersion: Int64? = nil, version: Int64 = 0, state: AccountState,
        purchases: [SubscriptionView] = [], trial: StartedTrial? = nil, acts: [RecordedAct] = [],
        erasedAt: Timestamp? = nil
    ) {
        self.token = token
        self.account = account
        self.environment = environment
        self.instant = instant
        self.catalog = catalog
        self.catalogVersion = catalogVersion
        self.version = version
        self.state = state
        current = state.value(at: instant)
        self.purchases = purchases
        self.trial = trial
        self.acts = acts
        self.erasedAt = erasedAt
    }

    /// Puts the purchases in the order in which answers list them.
    package mutating func sortPurchases() {
        let speaking = current.purchase
        purchases.sort { a, b in
            let speaks = (a.key == speaking, b.key == speaking)
            if speaks.0 != speaks.1 { return speaks.0 }
            if a.givesAccess != b.givesAccess { return a.givesAccess }
            let ends = (a.accessUntil ?? .distantFuture, b.accessUntil ?? .distantFuture)
            return ends.0 != ends.1 ? ends.0 > ends.1 : a.key < b.key
        }
    }

    // MARK: What follows from that

    /// When it loses access, as known then; nil where it has none, or no end of it.
    package var accessUntil: Timestamp? { current.access ? current.expiresAt : nil }

    /// The purchase that says most: the one that the status comes from, else the one with access or the latest.
    package var subscription: SubscriptionView? { purchases.first }

    /// When the purchase that says most was first heard of, else when the app's own trial began; nil where there is neither.
    package var createdAt: Timestamp? { subscription.map(\.createdAt) ?? trial?.startedAt }

    /// When it changed last: when the latest evidence of a purchase was stored, or when a phase began, the account's or a purchase's. Nil
    /// where nothing was ever heard of it.
    package var updatedAt: Timestamp? {
        var latest = current.startsAt == .distantPast ? nil : Optional(current.startsAt)
        for purchase in purchases {
            if let updatedAt = purchase.updatedAt, latest.map({ $0 < updatedAt }) ?? true { latest = updatedAt }
        }
        return latest
    }

    /// The days that are left, each that has begun counted; nil without access and where there is no end.
    package var daysLeft: Int64? { accessUntil?.daysLeft(at: instant) }

    /// Whether access ends within so many days and is not about to go on by itself. A payment that failed may fail until the end.
    package func isExpiringSoon(within days: Int) -> Bool {
        let current = current
        guard current.access, !current.goesOn, let end = current.expiresAt else { return false }
        return end <= instant.adding(days: Int64(days))
    }

    /// When a purchase took the trial's place; nil where none did.
    package var trialConvertedAt: Timestamp? {
        guard let trial else { return nil }
        return purchases.compactMap(\.purchasedAt).filter { $0 >= trial.startedAt }.min()
    }
}

extension Timestamp {
    /// The days of 24 hours from an instant to this one, each that has begun counted; 0 where it is over.
    func daysLeft(at instant: Timestamp) -> Int64 {
        let left = max(0, milliseconds(since: instant))
        return left / 86_400_000 + (left % 86_400_000 > 0 ? 1 : 0)
    }
}
