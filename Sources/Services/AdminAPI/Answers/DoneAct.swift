import Accounts
import Base

/// What an act for an account has come to, or would.
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
    /// Whether it is done, and on record.
    let isDone: Bool

    init(
        _ account: AccountIdentity, _ done: (act: StaffAct, before: AccountPhase, after: AccountPhase),
        isDone: Bool = true
    ) {
        self.isDone = isDone
        name = PersonalText.shortened(account.name)
        token = account.token
        (act, before, after) = done
    }
}
