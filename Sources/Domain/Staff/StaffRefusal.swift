/// Why a member of the staff may not do something.
public enum StaffRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// It takes at least this role.
    case role(needed: StaffRole)
    /// More days at once take an admin.
    case days(most: Int64)
    /// Another member has to approve it.
    case ownRequest
    /// It takes a reason, for the record.
    case noReason
    /// An account belongs to all apps of the catalog, and they are staff of some.
    case otherApps
    /// It concerns all apps, and they are staff of some.
    case allApps

    /// One line: what is missing.
    public var description: String {
        switch self {
        case .role(let needed): "it takes the role \(needed.rawValue)"
        case .days(let most): "more than \(most) days at a time take the role \(StaffRole.admin.rawValue)"
        case .ownRequest: "another person has to approve your own request (STOREHOOK_FOUR_EYES)"
        case .noReason: "it takes a reason, for the record"
        case .otherApps: "accounts belong to all apps of the catalog, and this member of the staff has some of them"
        case .allApps: "it concerns all apps, and this member of the staff has some of them"
        }
    }
}
