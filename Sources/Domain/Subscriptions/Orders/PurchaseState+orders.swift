import AppStorePayloads
public import Base

extension PurchaseState {
    /// The orders of the purchase, as far as its facts were read.
    /// - Parameter originalTransactionID: the purchase's id.
    public func orders(of originalTransactionID: String) -> [BookedOrder] {
        let transactions = bookedPeriods
        if let first = transactions.first {
            return [
                BookedOrder(
                    key: originalTransactionID, plan: .autoRenewable,
                    originallyAt: transactions.lazy.compactMap(\.originallyAt).first ?? first.startsAt,
                    transactions: transactions)
            ]
        }
        return bought?.orders(of: originalTransactionID) ?? []
    }

    /// What new records changed in the books.
    /// - Parameters:
    ///   - originalTransactionID: the purchase's id.
    ///   - touched: the periods that the records may have changed.
    ///   - known: the facts before.
    ///   - since: from when on what else the batch brought may have changed access.
    ///   - horizon: from when on anything may have changed.
    ///   - before: the state by the earlier facts, derived as this one was. It is rarely needed.
    public func bookedChange(
        of originalTransactionID: String, _ touched: TouchedPeriods, upon known: PurchaseFacts, since: Timestamp,
        from horizon: Timestamp, before stateBefore: () -> PurchaseState
    ) -> BookedChange {
        guard bought == nil, !known.rarities.contains(.boughtOnce) else {
            return boughtChange(of: originalTransactionID, upon: known)
        }
        let now = touched.now.filter(\.record.isBoughtHere).map { BookedTransaction($0) }
        let before = touched.before.filter(\.record.isBoughtHere).map { BookedTransaction($0) }
        let changed = Set(now.filter { new in !before.contains(new) }.map(\.item))
        let removed = before.map(\.item).filter { item in !now.contains { $0.item == item } }
        let hasLater = (rules.periods.last?.start ?? .distantPast) >= since
        // A record that changes nothing of its own period may change what is to follow it: access until then.
        let last = rules.periods.last?.key
        let touchedEarlier = Set(touched.now.map(\.key)).subtracting([last].compactMap(\.self))
        let terms = recurringTerms
        // Apple's reason of an end changes the period that ends, and a purchase changes the period that it replaces.
        let hasTerms = known.maySayHowPeriodsCount || terms.values.contains { $0 != RecurringTerms() }
        let termsBefore = hasTerms ? stateBefore().recurringTerms : [:]
        let counted = hasTerms ? Set(terms.keys.filter { terms[$0] != termsBefore[$0] ?? RecurringTerms() }) : []
        guard !changed.isEmpty || !removed.isEmpty || hasLater || !touchedEarlier.isEmpty || !counted.isEmpty else {
            return BookedChange()
        }
        guard let order = orders(of: originalTransactionID).first else {
            return BookedChange(gone: before.isEmpty ? [] : [originalTransactionID])
        }
        // What a transaction is to the one before it changes with those before it, and with the access until it began. Nearly always
        // the one that changed is the last.
        let transactions = order.transactions
        let first = transactions.indices.first { place in
            let item = transactions[place].item
            return changed.contains(item) || transactions[place].startsAt >= since || touchedEarlier.contains(item)
                || counted.contains(item)
                // What was removed is not found any more: all that something may have changed about.
                || !removed.isEmpty
                    && (place + 1 == transactions.count || transactions[place + 1].startsAt > horizon)
        }
        guard let first else { return BookedChange() }
        return BookedChange(orders: [
            .init(
                order: order, changed: Array(transactions[first...]), removed: removed,
                hadRefunds: before.contains { !$0.refunds.isEmpty },
                hadStretches: termsBefore.values.contains { !$0.stretches.isEmpty })
        ])
    }

    private func boughtChange(of originalTransactionID: String, upon known: PurchaseFacts) -> BookedChange {
        let now = orders(of: originalTransactionID)
        let before = BoughtTransactions(known.counting)?.orders(of: originalTransactionID) ?? []
        guard now != before else { return BookedChange() }
        return BookedChange(
            orders: now.filter { !before.contains($0) }.map { order in
                let known = before.first { $0.key == order.key }
                return .init(
                    order: order, changed: order.transactions,
                    hadRefunds: known?.transactions.contains { !$0.refunds.isEmpty } ?? false, hadStretches: false)
            },
            gone: before.map(\.key).filter { key in !now.contains { $0.key == key } })
    }

    /// The periods that this customer paid for, each with its relation to the one before it.
    private var bookedPeriods: [BookedTransaction] {
        var transactions: [BookedTransaction] = []
        let terms = recurringTerms
        var before: Period?
        for period in rules.periods where period.record.isBoughtHere {
            var transaction = BookedTransaction(period)
            transaction.recurring = terms[period.key] ?? RecurringTerms()
            if let before {
                transaction.relation = relation(of: period, after: before)
                transaction.follows = before.key
                transaction.isWithin = period.start < before.expiresAt
            }
            transactions.append(transaction)
            if period.replacedAt == nil { before = period }
        }
        return transactions
    }

    private func relation(of period: Period, after before: Period) -> BookedTransaction.Relation {
        // What Apple renews is a recovery where access had ended.
        if !period.record.isRenewal, hasLapsed(before: period.start) { return .resubscription }
        return period.record.productID == before.record.productID ? .renewal : .change
    }

    private func hasLapsed(before instant: Timestamp) -> Bool {
        guard let phase = subscription?.phases.last(where: { $0.startsAt < instant }) else { return false }
        return !phase.value.status.access
    }
}

extension BoughtTransactions {
    /// The orders of something bought once.
    func orders(of originalTransactionID: String) -> [BookedOrder] {
        switch kind {
        case .nonConsumable:
            groups.enumerated().compactMap { place, group in
                // Bought again after a refund, it is another order.
                order(
                    .nonConsumable, place == 0 ? originalTransactionID : group.members[0].record.transactionID,
                    group.sale.transactionID, group.members, isFirst: place == 0)
            }
        case .consumable:
            groups.compactMap { group in
                let id = group.members[0].record.transactionID
                return order(.consumable, id, id, group.members)
            }
        case .nonRenewing:
            all.compactMap { order(.nonRenewing, $0.record.transactionID, $0.record.transactionID, [$0]) }
        }
    }

    /// - Parameters:
    ///   - transactionID: the transaction that was paid for; the other members are copies of it.
    ///   - isFirst: whether the date of the purchase's first transaction is its own.
    private func order(
        _ plan: BookedOrder.Plan, _ key: String, _ transactionID: String, _ members: [Bought], isFirst: Bool = true
    ) -> BookedOrder? {
        let paid = members.filter(\.record.isBoughtHere)
        guard let sold = paid.first(where: { $0.record.transactionID == transactionID }) ?? paid.first else {
            return nil
        }
        let records = paid.flatMap(\.records).sorted { $1.isLater(than: $0) }
        let transaction = BookedTransaction(item: key, sold.record, records, startsAt: paid[0].purchasedAt)
        let originallyAt = isFirst ? transaction.originallyAt : nil
        return BookedOrder(
            key: key, plan: plan, originallyAt: originallyAt ?? transaction.startsAt, transactions: [transaction])
    }
}
