/// The actor of an act, with its rights: a member of the staff, or a person with the commands.
public struct StaffActor: Sendable, Hashable {
    /// As acts record it: `cli:` and a name that is not proven, or `staff:` and a number.
    public var name: String
    /// How much they may do.
    public var role: StaffRole
    /// The apps that they are staff of.
    public var scope: StaffScope

    /// Memberwise; by default of all apps.
    public init(name: String, role: StaffRole, scope: StaffScope = .all) {
        self.name = name
        self.role = role
        self.scope = scope
    }
}
