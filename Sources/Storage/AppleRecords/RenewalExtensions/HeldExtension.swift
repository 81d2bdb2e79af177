/// An extension that a worker holds.
package struct HeldExtension: ScopedRow, Hashable {
    /// That it is held.
    package var claim: ScopedClaim
    /// The extension.
    package var record: RenewalExtension
    /// How long ago Apple was asked; nil while it was not.
    package var sinceAsked: Duration?
    /// How long ago Apple took it on; nil while that is not known.
    package var sinceAccepted: Duration?
    /// How long ago Apple was done with all of them; nil while it is not.
    package var sinceCompleted: Duration?
}
