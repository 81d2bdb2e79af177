import AppStorePayloads
public import Base

/// What an account needs to know of a phase beside the status: from which purchase of the customer's it comes, and how
/// Apple names its account. Almost all phases are ordinary: then nothing of it is stored.
public struct PhaseOrigin: Sendable, Hashable {
    /// When the customer last bought on this line, by then; nil for the line's first purchase. Renewals, recoveries and
    /// later plans follow from it.
    public var boughtAt: Timestamp?
    /// When Apple charged for the period, where it is a renewal to another product that was charged before it began.
    public var chargedAt: Timestamp?
    /// The product that the latest renewal info names for the renewal, where a later purchase has overtaken that renewal
    /// info; else the status says it.
    public var namedProductID: String?
    /// Whether only renewal info names the account: it speaks of the upcoming renewal, and is weaker than a proof.
    public var isUpcomingAccount: Bool
    /// When the waiting for the renewal was to end, where something that Apple reported ended it earlier; nil where the phase
    /// lasts as long as the waiting.
    public var waitsUntil: Timestamp?
    /// The renewal to another product that Apple had charged for by then, where a plan that was bought later replaced it; nil
    /// where the next phase is what follows.
    public var replacedRenewal: Renewal?

    /// What was charged for ahead.
    public struct Renewal: Sendable, Hashable {
        /// Apple's id of the product.
        public var productID: String
        /// When it was to end.
        public var until: Timestamp

        /// Memberwise.
        public init(productID: String, until: Timestamp) {
            self.productID = productID
            self.until = until
        }
    }

    /// Memberwise.
    public init(
        boughtAt: Timestamp? = nil, chargedAt: Timestamp? = nil, namedProductID: String? = nil,
        isUpcomingAccount: Bool = false, waitsUntil: Timestamp? = nil, replacedRenewal: Renewal? = nil
    ) {
        self.boughtAt = boughtAt
        self.chargedAt = chargedAt
        self.namedProductID = namedProductID
        self.isUpcomingAccount = isUpcomingAccount
        self.waitsUntil = waitsUntil
        self.replacedRenewal = replacedRenewal
    }

    /// Whether it says nothing.
    public var isOrdinary: Bool {
        self == PhaseOrigin()
    }
}

/// The end of a stretch of a line: the customer bought again after a lapse.
///
/// What Apple signed, what an account proved and what staff moved each reach to the end of their stretch.
public struct StretchEnd: Sendable, Hashable {
    /// The first instant of the stretch that follows.
    public var at: Timestamp
    /// The account that Apple signed last into the stretch that is over; nil for none.
    public var account: UniqueIdentifier?

    /// Memberwise.
    public init(at: Timestamp, account: UniqueIdentifier? = nil) {
        self.at = at
        self.account = account
    }
}

/// What is known of a line's beginning where its earlier facts are left out.
public struct LineCarry: Sendable, Hashable {
    /// The account that Apple signed last into the stretch in force.
    public var account: UniqueIdentifier?
    /// When the customer last bought; nil for the line's first purchase.
    public var boughtAt: Timestamp?
    /// The ends of earlier stretches, in order.
    public var stretchEnds: [StretchEnd]
    /// The transaction of the deciding period, where that is a renewal to another product that was charged ahead.
    public var chargedTransactionID: String?
    /// When it was charged.
    public var chargedAt: Timestamp?

    /// Memberwise.
    public init(
        account: UniqueIdentifier? = nil, boughtAt: Timestamp? = nil, stretchEnds: [StretchEnd] = [],
        chargedTransactionID: String? = nil, chargedAt: Timestamp? = nil
    ) {
        self.account = account
        self.boughtAt = boughtAt
        self.stretchEnds = stretchEnds
        self.chargedTransactionID = chargedTransactionID
        self.chargedAt = chargedAt
    }
}
