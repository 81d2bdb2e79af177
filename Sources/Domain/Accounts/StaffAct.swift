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

extension StaffAct.Kind {
    /// The name in the table.
    package var name: String {
        switch self {
        case .grant: "grant"
        case .extend: "extend"
        case .revoke: "revoke"
        case .unrevoke: "unrevoke"
        case .changeTier: "change_tier"
        }
    }

    /// The tier that it is about.
    package var tier: String? {
        switch self {
        case .grant(let tier, _), .changeTier(let tier): tier
        case .extend, .revoke, .unrevoke: nil
        }
    }

    /// Whether it is about the source that decides at its instant.
    var isAboutWhatDecides: Bool {
        switch self {
        case .extend, .changeTier: true
        case .grant, .revoke, .unrevoke: false
        }
    }

    /// The days that it gives.
    package var days: Int64? {
        switch self {
        case .grant(_, let days), .extend(let days): days
        case .revoke, .unrevoke, .changeTier: nil
        }
    }
}
