import Accounts
import Base

/// What an act for an account has come to.
struct DoneAct: Sendable {
    /// The account's id, shortened.
    let name: String
    /// The account.
    let token: UniqueIdentifier
    /// The act.
    let act: StaffAct
    /// What the account was.
    let before: AccountPhase
    /// What it is.
    let after: AccountPhase

    init(_ account: AccountIdentity, _ done: (act: StaffAct, before: AccountPhase, after: AccountPhase)) {
        name = PersonalText.shortened(account.name)
        token = account.token
        (act, before, after) = done
    }
}
