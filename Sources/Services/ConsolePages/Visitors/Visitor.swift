import AccountStore

/// Who looks at a page.
struct Visitor: Sendable {
    /// The member of the staff.
    let member: StaffMember
    /// What the visitor's forms carry; nil where the browser has nothing yet that they could be bound to.
    let token: FormToken?
    /// The session, which ends by logging out; nil where a proxy has logged in the visitor.
    let session: SessionSecret?

    /// What the visitor is called on a page.
    var name: String { member.mail }
}
