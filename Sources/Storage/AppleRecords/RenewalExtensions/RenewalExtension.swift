package import Base
package import Foundation
package import Postgres

/// An extension of renewal dates: who requested it, and how far it has come.
package struct RenewalExtension: Sendable, Hashable {
    /// The subscriptions whose renewal date moves.
    package enum Subject: Sendable, Hashable {
        /// That of one subscription, by its original transaction.
        case one(originalTransactionID: String)
        /// That of all active subscriptions to a product; in these countries (ISO 3166-1 alpha-3), everywhere if empty.
        case all(productID: String, storefronts: [String])

        /// `one` or `all`.
        package var kind: String {
            switch self {
            case .one: "one"
            case .all: "all"
            }
        }
    }

    /// How far it has come.
    package enum State: String, Sendable, Hashable, CaseIterable, JSONConvertible {
        /// Apple was not asked yet, or has done nothing when it was. Can transition to: unknown, refused, closed.
        case requested
        /// Apple was asked, and what it did is not known. Can transition to: any but completed.
        case unknown
        /// Apple has taken it on. Can transition to: completed, extended, closed.
        case accepted
        /// Apple is done with all subscriptions, and which failed is still being heard. Can transition to: extended, closed.
        case completed
        /// The end: done, and known here.
        case extended
        /// The end: Apple does not do it.
        case refused
        /// The end: it was found out each time that Apple did not do it.
        case notExtended = "not_extended"
        /// The end: a person gave it up.
        case closed

        /// Whether nothing more will come of it.
        package var isEnd: Bool {
            switch self {
            case .requested, .unknown, .accepted, .completed: false
            case .extended, .refused, .notExtended, .closed: true
            }
        }
    }

    /// Its number.
    package var id: Int64
    /// Where.
    package var scope: AppEnvironment
    /// The subscriptions whose renewal date moves.
    package var subject: Subject
    /// Its name for Apple.
    package var requestIdentifier: String
    /// By how many days.
    package var days: Int64
    /// Apple's code for why.
    package var reasonCode: Int64
    /// When it was recorded.
    package var requestedAt: PostgresTimestamp
    /// The person who requested it.
    package var requestedBy: String
    /// Why, for the record; nil where no reason was given.
    package var why: String?
    /// How far it has come.
    package var state: State
    /// What Apple said of the subscription right before it was asked; nil while it was not, and where it said nothing.
    package var before: SubscriptionStanding?
    /// Right before Apple was asked.
    package var askedAt: PostgresTimestamp?
    /// How often it was found out that Apple had done nothing, and Apple is asked again.
    package var askedAgain: Int64
    /// When it was known that Apple has taken it on.
    package var acceptedAt: PostgresTimestamp?
    /// The new renewal date, by Apple.
    package var effectiveAt: PostgresTimestamp?
    /// Since when Apple's status shows it.
    package var confirmedAt: PostgresTimestamp?
    /// The RENEWAL_EXTENDED that was applied, or the summary of all.
    package var notificationUUID: UUID?
    /// When Apple was done with all of them.
    package var completedAt: PostgresTimestamp?
    /// How many were extended, by Apple.
    package var succeeded: Int64?
    /// How many were not, by Apple.
    package var failed: Int64?
    /// How many of those Apple has named.
    package var failuresHeard: Int64
    /// Why Apple refuses: a code, and what to do.
    package var refusal: Refusal?
    /// Who gave it up, and why.
    package var closed: Closure?
    /// When it came to its end.
    package var settledAt: PostgresTimestamp?
    /// Why it is waited for, where it is: a code.
    package var waitingFor: String?
    /// Whether ``state`` and ``askedAgain`` are those of the instant that was asked for: false where nothing says how it stood then.
    package var isDated = true

    /// Why Apple refuses.
    package struct Refusal: Sendable, Hashable {
        /// A code that never changes.
        package var code: String
        /// What to do, for people.
        package var message: String

        /// A refusal.
        package init(code: String, message: String) {
            self.code = code
            self.message = message
        }
    }

    /// That a person gave it up.
    package struct Closure: Sendable, Hashable {
        /// The person.
        package var by: String
        /// Why.
        package var why: String
    }
}

/// What Apple says of a subscription at an instant.
package struct SubscriptionStanding: Sendable, Hashable {
    /// The transaction of its latest period.
    package var period: String
    /// When that period ends.
    package var renewsAt: PostgresTimestamp
    /// When Apple signed this, by its clock.
    package var signedAt: PostgresTimestamp

    /// A standing.
    package init(period: String, renewsAt: PostgresTimestamp, signedAt: PostgresTimestamp) {
        self.period = period
        self.renewsAt = renewsAt
        self.signedAt = signedAt
    }
}
