import AppStorePayloads
public import Base

/// An order: what one customer bought under one number.
public struct BookedOrder: Sendable, Hashable {
    /// How it is paid.
    public enum Plan: String, Sendable, Hashable, CaseIterable {
        /// Again and again, until it is cancelled.
        case autoRenewable = "auto_renewable"
        /// Once, and owned.
        case nonConsumable = "non_consumable"
        /// Once, and used up.
        case consumable
        /// Once, for a term.
        case nonRenewing = "non_renewing"
    }

    /// Distinguishes it from the other orders of an app in an environment: the originalTransactionId of what renews itself and of a
    /// non-consumable, else the transactionId.
    public var key: String
    /// How it is paid.
    public var plan: Plan
    /// When its first transaction was made, by Apple's records.
    public var originallyAt: Timestamp
    /// Its transactions in order, as far as they were read; not empty.
    public var transactions: [BookedTransaction]

    /// The transaction that it shows at an instant: the latest that began and was not replaced before that.
    public func shown(at instant: Timestamp) -> BookedTransaction? {
        transactions.last { $0.startsAt <= instant && !$0.isVoid } ?? transactions.first { !$0.isVoid }
            ?? transactions.first
    }

    /// When it shows another one, after an instant; nil where that is not known to happen.
    public func turns(after instant: Timestamp) -> Timestamp? {
        transactions.first { $0.startsAt > instant && !$0.isVoid && $0.item != shown(at: instant)?.item }?.startsAt
    }
}

/// What a batch changes in the books about one purchase.
public struct BookedChange: Sendable, Hashable {
    /// An order that changed.
    public struct Order: Sendable, Hashable {
        /// As it is now.
        public var order: BookedOrder
        /// Its transactions that may have changed.
        public var changed: [BookedTransaction]
        /// The items of transactions that it had before.
        public var removed: [String]
        /// Whether something of it had been refunded before, or taken back.
        public var hadRefunds: Bool
        /// Whether something of it counted in several stretches before.
        public var hadStretches: Bool

        /// Memberwise.
        public init(
            order: BookedOrder, changed: [BookedTransaction], removed: [String] = [], hadRefunds: Bool = true,
            hadStretches: Bool = true
        ) {
            self.order = order
            self.changed = changed
            self.removed = removed
            (self.hadRefunds, self.hadStretches) = (hadRefunds, hadStretches)
        }
    }

    /// The orders that changed.
    public var orders: [Order] = []
    /// The keys of orders that no longer exist: a family member paid, or it was a copy.
    public var gone: [String] = []

    /// Nothing by default.
    public init(orders: [Order] = [], gone: [String] = []) {
        self.orders = orders
        self.gone = gone
    }

    /// Whether nothing changed.
    public var isEmpty: Bool { orders.isEmpty && gone.isEmpty }
}
