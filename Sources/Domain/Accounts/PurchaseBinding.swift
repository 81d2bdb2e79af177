import AppStorePayloads
public import Base

/// A purchase was given to an account, or taken from one: recorded once, and never changed.
public struct PurchaseBinding: Sendable, Hashable, Comparable {
    /// How; the raw values are those of the table.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The account proved that it holds the purchase, and no other account had.
        case proof
        /// Another account proved it under the rule `transfer`.
        case transfer
        /// Staff moved it.
        case staff
        /// The account was erased: what was signed for it, recorded for it or moved to it no longer counts.
        case erasure
    }

    /// Its number, in the order of recording.
    public var id: Int64
    /// How.
    public var kind: Kind
    /// The account; for an erasure the one that no longer counts.
    public var account: UniqueIdentifier
    /// From when on it counts.
    public var at: Timestamp

    /// Memberwise.
    public init(id: Int64, kind: Kind, account: UniqueIdentifier, at: Timestamp) {
        self.id = id
        self.kind = kind
        self.account = account
        self.at = at
    }

    /// In the order in which they take effect.
    public static func < (a: Self, b: Self) -> Bool { (a.at, a.id) < (b.at, b.id) }
}
