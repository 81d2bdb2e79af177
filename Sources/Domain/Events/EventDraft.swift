public import Accounts
import AppStorePayloads
public import Base
public import Subscriptions

/// An event without its place: what it reports, and about what.
public struct EventDraft: Sendable, Hashable {
    /// What it is about, as it is by then.
    public enum Subject: Sendable, Hashable {
        /// A subscription, and what it was before; nil where nothing was reported about it.
        case subscription(StatusAtInstant, previous: StatusAtInstant?)
        /// Something bought once, in the same way.
        case oneTime(OneTimePurchase, previous: OneTimePurchase?)
        /// An account, in the same way.
        case account(AccountPhase, previous: AccountPhase?)
        /// A purchase without a change: Apple wants data about it, or was answered; in Apple's words why, and what.
        case consumption(transactionID: String?, reason: String?, answer: String?)
        /// Nothing.
        case none
    }

    /// A move from one account to another.
    public struct Move: Sendable, Hashable {
        /// The account that had it.
        public var from: UniqueIdentifier
        /// The account that has it; nil where it is free.
        public var to: UniqueIdentifier?

        /// Memberwise.
        public init(from: UniqueIdentifier, to: UniqueIdentifier?) {
            self.from = from
            self.to = to
        }
    }

    /// What it reports.
    public var kind: EventKind
    /// Apple's name of the environment.
    public var environment: String
    /// The app; nil for what is no app's, as a grant.
    public var bundleID: String?
    /// The purchase that it is about, where it is about one.
    public var purchase: PurchaseKey?
    /// The account that it is reported for, in whose order it stands; nil for a purchase without account, which has its
    /// own order.
    public var account: UniqueIdentifier?
    /// What it is about, as it is by then.
    public var subject: Subject
    /// The period or refund that it reports, where it reports one.
    public var period: PaidPeriod?
    /// The accounts that the purchase moved between, where it reports that.
    public var move: Move?
    /// Why it is known.
    public var cause: EventCause
    /// The id of what brought it; nil where that has none, as the clock.
    public var causeID: UniqueIdentifier?
    /// What the transactions that it names were sold for, as far as that is known.
    public var terms: [String: SaleTerms] = [:]
    /// When what it reports came to be.
    public var instant: Timestamp
    /// Whether it is reported well after that.
    public var isLate: Bool
    /// Whether it replaces an earlier report that was wrong.
    public var isCorrection: Bool

    /// Memberwise.
    public init(
        _ kind: EventKind, environment: String, bundleID: String?, purchase: PurchaseKey? = nil,
        account: UniqueIdentifier?, subject: Subject, period: PaidPeriod? = nil, move: Move? = nil, cause: EventCause,
        causeID: UniqueIdentifier? = nil, instant: Timestamp, isLate: Bool = false, isCorrection: Bool = false
    ) {
        self.kind = kind
        self.environment = environment
        self.bundleID = bundleID
        self.purchase = purchase
        self.account = account
        self.subject = subject
        self.period = period
        self.move = move
        self.cause = cause
        self.causeID = causeID
        self.instant = instant
        self.isLate = isLate
        self.isCorrection = isCorrection
    }

    /// One that some evidence has brought; the clock where that is nil.
    init(
        _ kind: EventKind, environment: String, bundleID: String?, purchase: PurchaseKey? = nil,
        account: UniqueIdentifier?, subject: Subject, source: Evidence?, instant: Timestamp, isLate: Bool = false,
        isCorrection: Bool = false
    ) {
        self.init(
            kind, environment: environment, bundleID: bundleID, purchase: purchase, account: account, subject: subject,
            cause: source?.cause ?? .clock, causeID: source?.id, instant: instant, isLate: isLate,
            isCorrection: isCorrection)
    }

    /// The same for both accounts of a move, each in its own order; for the former one alone where the purchase is free.
    func reportedToBoth(of move: Move) -> [EventDraft] {
        [move.from, move.to].compactMap(\.self).map { account in
            var event = self
            event.account = account
            event.move = move
            return event
        }
    }

    /// The transactions whose ``terms`` its body shows.
    public var transactionIDs: [String] {
        let named: [String?] =
            switch subject {
            case .subscription(let value, let previous): [value.transactionID, previous?.transactionID]
            case .oneTime(let value, let previous): [value.transactionID, previous?.transactionID]
            case .account, .consumption, .none: []
            }
        return (named + [period?.transactionID]).compactMap(\.self)
    }

    /// Apple wants data about a purchase whose refund was requested.
    /// - Parameter reason: why the customer wants it, in Apple's word.
    public static func consumptionRequested(
        _ purchase: PurchaseKey, of account: UniqueIdentifier?, transactionID: String?, reason: String?,
        cause: EventCause, at instant: Timestamp, now: Timestamp, rules: EventRules = EventRules()
    ) -> EventDraft {
        EventDraft(
            .consumptionRequested, environment: purchase.environment, bundleID: purchase.bundleID, purchase: purchase,
            account: account, subject: .consumption(transactionID: transactionID, reason: reason, answer: nil),
            cause: cause, instant: instant, isLate: rules.isLate(instant, at: now))
    }

    /// Apple was answered.
    /// - Parameter answer: what became of it, in a word.
    public static func consumptionAnswered(
        _ purchase: PurchaseKey, of account: UniqueIdentifier?, transactionID: String?, answer: String,
        cause: EventCause, at instant: Timestamp
    ) -> EventDraft {
        EventDraft(
            .consumptionAnswered, environment: purchase.environment, bundleID: purchase.bundleID, purchase: purchase,
            account: account, subject: .consumption(transactionID: transactionID, reason: nil, answer: answer),
            cause: cause, instant: instant)
    }

    /// A requested one, to see whether events arrive.
    public static func test(environment: String, bundleID: String?, at instant: Timestamp) -> EventDraft {
        EventDraft(
            .test, environment: environment, bundleID: bundleID, account: nil, subject: .none, cause: .staff,
            instant: instant)
    }
}
