/// The apps of a member of the staff.
public enum StaffScope: Sendable, Hashable {
    /// All apps, also later ones.
    case all
    /// These alone, by their bundle ids.
    case some(Set<String>)

    /// Whether what belongs to an app is shown: what belongs to no one app is of all of them.
    public func sees(app: String?) -> Bool {
        switch self {
        case .all: true
        case .some(let apps): app.map(apps.contains) ?? false
        }
    }

    /// Whether all of these are theirs.
    public func isSuperset(of apps: Set<String>) -> Bool {
        switch self {
        case .all: true
        case .some(let own): own.isSuperset(of: apps)
        }
    }
}
