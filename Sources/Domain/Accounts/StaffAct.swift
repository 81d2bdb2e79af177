import AppStorePayloads
public import Base

/// What staff did for an account, on record with who and why.
public struct StaffAct: Sendable, Hashable, Comparable {
    /// What.
    public enum Kind: Sendable, Hashable {
        /// A tier, for so many days from then on.
        case grant(tier: String, days: Int64)
        /// So many days more of what gave access then.
        case extend(days: Int64)
        /// An end to everything that gave access then.
        case revoke
        /// An end to all blocks before.
        case unrevoke
        /// Another tier than what gave access then gives, until that ends.
        case changeTier(to: String)
    }

    /// Its number, in the order of recording.
    public var id: Int64
    /// When.
    public var at: Timestamp
    /// What.
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
