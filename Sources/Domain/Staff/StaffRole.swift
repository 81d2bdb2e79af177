/// How much a member of the staff may do; each role may do what those before it may.
public enum StaffRole: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Reads.
    case viewer
    /// Helps customers.
    case support
    /// Decides.
    case admin

    /// By how much they may do.
    public static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }

    private var rank: Int {
        switch self {
        case .viewer: 0
        case .support: 1
        case .admin: 2
        }
    }
}
