import AppStorePayloads
public import Base

/// An act of staff for an account; it is recorded with the person and the reason.
public struct StaffAct: Sendable, Hashable, Comparable {
    /// What was done.
    public enum Kind: Sendable, Hashable {
        /// A tier, for so many days from then on.
        case grant(tier: String, days: Int64)
        /// So many days more of what gives access then.
        case extend(days: Int64)
        /// An end to everything that gives access then.
        case revoke
        /// An end to all earlier blocks.
        case unrevoke
        /// Another tier than the source of access gives, until that ends.
        case changeTier(to: String)
    }

    /// Its number, in the order of recording.
    public var id: Int64
    /// When it was done.
    public var at: Timestamp
    /// What was done.
    public var kind: Kind

    /// Memberwise.
    public init(id: Int64, at: Timestamp, kind: Kind) {
        self.id = id
        self.at = at
        self.kind = kind
    }

    /// In the order in which they take effect.
    public static func < (a: Self, b: Self) -> Bool { (a.at, a.id) < (b.at, b.id) }
}
