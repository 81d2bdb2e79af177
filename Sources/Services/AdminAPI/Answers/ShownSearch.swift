import AccountStore
import Accounts
import Base
import Foundation

/// What a search led to, as a member of the staff sees it.
struct ShownSearch: Sendable {
    /// Its id.
    let id: UUID
    /// What it led to.
    let search: KeptSearch
    /// What of that is the member's to see.
    let hits: [ShownHit]

    /// How many personal texts are shown in full.
    var openedTexts: Int64 { hits.reduce(0) { $0 + $1.openedTexts } }
}

/// A thing that a search led to, with what is known of its account now.
struct ShownHit: Sendable {
    /// The thing.
    let hit: KeptSearch.Hit
    /// Its account; nil where none is known.
    let account: FoundAccount?
    /// What the operator's servers say the customer is called.
    let profile: AccountProfile?
    /// Where the account has purchases of the member's apps.
    let places: [AccountPlace]
    /// How personal texts are shown.
    let opening: Opening

    /// What the customer's path takes.
    var customer: String? { account.map { AccountReference.token($0.token).description } }

    /// How many personal texts are shown in full.
    var openedTexts: Int64 {
        opening.isOpen ? Int64([account?.account, profile?.name, profile?.mail].count { $0 != nil }) : 0
    }
}
