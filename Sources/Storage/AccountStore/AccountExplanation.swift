package import Accounts
import AppStorePayloads
package import Base
package import Subscriptions

/// Why an account has its status at an instant, however long ago.
package struct AccountExplanation: Sendable {
    /// A purchase that the account has or had a part in.
    package struct Line: Sendable {
        /// The purchase.
        package var key: PurchaseKey
        /// Its phase at the instant; nil before it began.
        package var phase: LinePhase?
        /// The account that owned it then; nil where it was free.
        package var owner: UniqueIdentifier?
        /// How it came to its owners.
        package var bindings: [PurchaseBinding]
    }

    /// An act of staff, with its record.
    package struct Act: Sendable {
        /// What, and when.
        package var act: StaffAct
        /// Who did it.
        package var person: String
        /// Why.
        package var why: String
    }

    /// The account.
    package var token: UniqueIdentifier
    /// What the app's own tokens call it.
    package var account: String?
    /// The environment.
    package var environment: String
    /// The instant.
    package var at: Timestamp
    /// The catalog's number.
    package var catalogVersion: Int64
    /// Its version now; 0 where it has no stored status.
    package var version: Int64
    /// Its status as a function of time, from its beginning.
    package var state: AccountState
    /// Its purchases.
    package var lines: [Line]
    /// What staff did, by then and later, in order.
    package var acts: [Act]
    /// The app's own trial.
    package var trial: StartedTrial?
    /// When it was erased; everything before is forgotten.
    package var erasedAt: Timestamp?

    /// Its phase at the instant.
    package var value: AccountPhase { state.value(at: at) }
}
