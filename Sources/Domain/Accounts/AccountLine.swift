import AppStorePayloads
public import Base
public import Subscriptions

/// A purchase, for the accounts that may be its owners.
public struct AccountLine: Sendable, Hashable {
    /// What was bought.
    public enum Content: Sendable, Hashable {
        /// A subscription: its phases, in order.
        case subscription([LinePhase])
        /// A one-time purchase. The catalog gives the length of a term without an end from Apple.
        case oneTime(BoughtOnce)
    }

    /// A one-time purchase.
    public struct BoughtOnce: Sendable, Hashable {
        /// Its kind.
        public var kind: OneTimePurchase.Kind
        /// Apple's id of the product.
        public var productID: String?
        /// When it was bought first.
        public var purchasedAt: Timestamp
        /// Its end, where Apple names one.
        public var expiresAt: Timestamp?
        /// When it was refunded; nil while it stands.
        public var revokedAt: Timestamp?
        /// When it was not held in between: refunded, until that was reversed or it was bought again.
        public var gaps: [OneTimePurchase.Gap]
        /// The account that Apple signed into it last.
        public var signedAccount: UniqueIdentifier?
        /// The accounts that Apple signed into it before, in order.
        public var earlierAccounts: [OneTimePurchase.EarlierAccount]

        /// Memberwise.
        public init(
            kind: OneTimePurchase.Kind, productID: String?, purchasedAt: Timestamp, expiresAt: Timestamp? = nil,
            revokedAt: Timestamp? = nil, gaps: [OneTimePurchase.Gap] = [], signedAccount: UniqueIdentifier? = nil,
            earlierAccounts: [OneTimePurchase.EarlierAccount] = []
        ) {
            self.kind = kind
            self.productID = productID
            self.purchasedAt = purchasedAt
            self.expiresAt = expiresAt
            self.revokedAt = revokedAt
            self.gaps = gaps
            self.signedAccount = signedAccount
            self.earlierAccounts = earlierAccounts
        }

        /// When it was bought last by an instant.
        func boughtLast(by instant: Timestamp) -> Timestamp {
            gaps.last { $0.isBoughtAgain && $0.until <= instant }?.until ?? purchasedAt
        }

        /// The account that Apple had signed into it by an instant; the first one counts from the beginning.
        func signedAccount(at instant: Timestamp) -> UniqueIdentifier? {
            earlierAccounts.first { instant < $0.until }?.account ?? signedAccount
        }
    }

    /// The purchase.
    public var key: PurchaseKey
    /// Its state as a function of time.
    public var content: Content
    /// Its owners, beside the accounts that Apple signed into it.
    public var ownership: PurchaseOwnership
    /// The ends of its stretches, in order; also of those whose phases are left out.
    public var stretchEnds: [StretchEnd]

    /// A purchase.
    public init(
        key: PurchaseKey, content: Content, ownership: PurchaseOwnership = PurchaseOwnership(),
        stretchEnds: [StretchEnd] = []
    ) {
        self.key = key
        self.content = content
        self.ownership = ownership
        self.stretchEnds = stretchEnds
    }

    /// Every account that owns it at any instant.
    public var owners: Set<UniqueIdentifier> {
        let named: [(Timestamp, SignedAccounts)] =
            switch content {
            case .subscription(let phases): phases.map { ($0.startsAt, signed($0)) }
            case .oneTime(let bought):
                ([bought.purchasedAt] + bought.earlierAccounts.map(\.until)).map {
                    ($0, SignedAccounts(bought.signedAccount(at: $0)))
                }
            }
        var owners = Set<UniqueIdentifier>()
        for (place, (startsAt, accounts)) in named.enumerated() {
            let end = place + 1 < named.count ? named[place + 1].0 : .distantFuture
            for instant in [startsAt] + instants.filter({ startsAt < $0 && $0 < end }) {
                if let owner = ownership.owner(signed: accounts, at: instant) { owners.insert(owner) }
            }
        }
        return owners
    }

    /// The instants at which the owner may change, beside those of phases, in order.
    var instants: [Timestamp] {
        stretchEnds.isEmpty ? ownership.instants : (ownership.instants + stretchEnds.map(\.at)).sorted()
    }

    /// What Apple has signed by a phase of the line.
    func signed(_ phase: LinePhase) -> SignedAccounts {
        SignedAccounts(phase.signedAccount, upcoming: phase.upcomingAccount, stretchEnds: stretchEnds)
    }

    /// The owner at an instant, by the loaded phases; before the first one, by that. Nil where it is free.
    public func owner(at instant: Timestamp) -> UniqueIdentifier? {
        switch content {
        case .subscription(let phases):
            (phases.last { $0.startsAt <= instant } ?? phases.first)
                .flatMap { ownership.owner(signed: signed($0), at: instant) }
        case .oneTime(let bought):
            ownership.owner(signed: SignedAccounts(bought.signedAccount(at: instant)), at: instant)
        }
    }
}

extension AccountLine {
    /// Whether it gives an account access at an instant, by its loaded phases.
    public func gives(to account: UniqueIdentifier, at instant: Timestamp, by catalog: Catalog) -> Bool {
        LineTimeline(self, of: account, catalog).span(at: instant)?.gives ?? false
    }

    /// Whether what ended last on it by an instant was a trial without a payment after it; see ``AccountState``.
    public func hasEndedAsTrial(at instant: Timestamp, by catalog: Catalog) -> Bool {
        LineTimeline.hasEndedAsTrial(phases(by: catalog).prefix { $0.startsAt <= instant })
    }

    /// Its phase at an instant, whichever account owns it then; nil before it began.
    public func phase(at instant: Timestamp, by catalog: Catalog) -> LinePhase? {
        phases(by: catalog).last { $0.startsAt <= instant }
    }

    /// Its phases, in order; none for a consumable, and none for a term of unknown length.
    public func phases(by catalog: Catalog) -> [LinePhase] { LineTimeline.phases(of: self, catalog) }
}
