package import Base

/// A selection of the audit's rows; nil does not restrict.
package struct AuditFilter: Sendable, Hashable {
    /// About this account.
    package var account: UniqueIdentifier?
    /// About this thing.
    package var subject: (kind: String, reference: String)? {
        get { subjectKind.flatMap { kind in subjectReference.map { (kind, $0) } } }
        set { (subjectKind, subjectReference) = (newValue?.kind, newValue?.reference) }
    }
    private var subjectKind: String?
    private var subjectReference: String?
    /// By this actor.
    package var actor: String?
    /// Of this kind.
    package var act: String?
    /// Of this app.
    package var app: String?
    /// Of these apps: without rows that belong to no one app.
    package var apps: [String]?
    /// In this environment.
    package var environment: String?
    /// Done then or later.
    package var from: Timestamp?
    /// Done before then.
    package var to: Timestamp?
    /// Done by this instant.
    package var at: Timestamp?

    /// A filter; without more, every row.
    package init() {}
}
