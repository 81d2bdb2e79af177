/// What reaches the listener at once: a notification, or a transaction that a device hands in.
package struct LifeMessage: Sendable, Hashable {
    /// What it is, in words, for a test that fails.
    package var name: String
    /// When it was signed, in epoch milliseconds; its parts carry the same date.
    package var signed: Int64
    /// The line that it is about.
    package var line: String
    /// `data.status`; absent where a device hands in a transaction, and for what is bought once.
    package var status: Int?
    /// The transaction that it is about.
    package var transaction: LifeTransaction?
    /// The renewal info beside it.
    package var renewal: LifeRenewal?
}

/// Who got a purchase, or lost it.
package struct LifeBinding: Sendable, Hashable {
    /// How.
    package enum Kind: String, Sendable, Hashable {
        case proof, transfer, staff, erasure
    }

    /// Its number, in the order of recording.
    package var id: Int64
    /// How.
    package var kind: Kind
    /// The account.
    package var account: String
    /// When, in epoch milliseconds.
    package var at: Int64
}

/// What staff did for the account.
package struct LifeAct: Sendable, Hashable {
    /// What.
    package enum Kind: Sendable, Hashable {
        case grant(tier: String, days: Int64)
        case extend(days: Int64)
        case revoke
        case unrevoke
        case changeTier(to: String)
    }

    /// Its number, in the order of recording.
    package var id: Int64
    /// When, in epoch milliseconds.
    package var at: Int64
    /// What.
    package var kind: Kind

    /// Whether it changes the tier.
    var isChange: Bool {
        if case .changeTier = kind { return true }
        return false
    }
}

/// What is sold in a life, and what it gives.
package struct LifeCatalog: Sendable, Hashable {
    /// In rising order; the first is what everybody has.
    package var tiers: [String]
    /// The tier of each product.
    package var products: [String: String]
    /// How many days a term lasts.
    package var termDays: [String: Int64]

    /// What a product gives; nil for one that is not sold.
    func tier(of product: String) -> String? {
        products[product].flatMap { tiers.contains($0) ? $0 : nil }
    }

    /// The place of a tier; nil for one that there is not.
    func rank(_ tier: String) -> Int? { tiers.firstIndex(of: tier) }
}

/// Everything that decides what an account is.
package struct AccountLife: Sendable {
    /// What makes the life again.
    package var seed: UInt64 = 0
    /// The account's token.
    package var account: String
    /// What was heard, in any order.
    package var messages: [LifeMessage]
    /// Who got or lost each line.
    package var bindings: [String: [LifeBinding]]
    /// What staff did.
    package var acts: [LifeAct]
    /// The app's own trial: tier, first instant and end, in epoch milliseconds.
    package var trial: (tier: String, starts: Int64, ends: Int64)?
    /// What is sold.
    package var catalog: LifeCatalog
    /// What is sold instead from an instant on, in epoch milliseconds, in order.
    package var laterCatalogs: [(from: Int64, catalog: LifeCatalog)] = []
    /// When the account itself was erased, in epoch milliseconds.
    package var erased: Int64?
    /// How long a renewal is waited for, in milliseconds.
    package var leeway: Int64

    /// Nothing yet.
    package init(account: String, catalog: LifeCatalog, leeway: Int64) {
        self.account = account
        self.catalog = catalog
        self.leeway = leeway
        messages = []
        bindings = [:]
        acts = []
    }

    /// The lines that anything was heard of.
    package var lines: [String] { Set(messages.map(\.line)).sorted() }
}
