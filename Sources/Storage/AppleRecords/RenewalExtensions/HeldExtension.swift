package import EvidenceStore

/// An extension that somebody looks after.
package struct HeldExtension: Sendable, Hashable {
    /// What is looked after.
    package var record: RenewalExtension
    /// How long ago Apple was asked; nil while it was not.
    package var sinceAsked: Duration?
    /// How long ago Apple took it on; nil while that is not known.
    package var sinceAccepted: Duration?
    /// How long ago Apple was done with all of them; nil while it is not.
    package var sinceCompleted: Duration?
    /// Claims so far, this one included.
    package var attempts: Int
    /// Who holds it.
    package var lease: Lease
}
