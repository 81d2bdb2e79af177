/// Money given back, for the newest period or for an older one.
extension ModelPurchase {
    private static let reasons = [
        "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
    ]

    /// The transactions before the newest one that are neither given back nor still in force.
    private var older: [Int] {
        // Before a renewal paid ahead has begun, the one before it is still in force.
        let end = hasBegun || standing != .running ? newest : newest - 1
        return transactions.indices.filter { $0 < end && transactions[$0].revocation == nil }
    }

    /// The customer asks for money back; the decision comes later, perhaps in another period.
    mutating func askRefund() {
        guard askedRefund == nil, let index = random.chance(50) ? newest : older.last else { return }
        askedRefund = index
        send("CONSUMPTION_REQUEST", about: index, after: moment(), consumptionRequestReason: random.pick(Self.reasons))
    }

    /// The store decides about the refund that was asked for.
    mutating func decideRefund() {
        guard let index = askedRefund, transactions[index].revocation == nil else {
            askedRefund = nil
            return
        }
        guard index == newest || older.contains(index) else { return }
        askedRefund = nil
        if random.chance(35) { return send("REFUND_DECLINED", about: index, after: moment()) }
        refund(index)
    }

    /// Gives money back for an older period that the app had not been asked about.
    mutating func refundOlder() {
        guard !older.isEmpty else { return }
        refund(random.pick(older))
    }

    /// Gives money back for the transaction; if it is the newest one, that ends the subscription.
    mutating func refund(_ index: Int) {
        let isWhole = random.chance(70)
        transactions[index].revocation = .init(
            date: now, reason: random.between(0, 1), type: isWhole ? "REFUND_FULL" : "REFUND_PRORATED",
            percentage: isWhole ? 100_000 : random.between(1, 99) * 1_000)
        ledger.write(.takenBack(transactions[index].webOrderLineItemId), at: now)
        var since: Int64?
        if index == newest {
            since = renewal.renews ? now : nil
            renewal.renews = false
            renewal.nextOffer = nil
            ledger.write(.renewing(false), at: now)
            standing = .revoked
        }
        reversible = index
        send("REFUND", about: index, after: moment(), since: since)
    }

    /// Undoes the last refund.
    mutating func reverseRefund() {
        guard let index = reversible else { return }
        reversible = nil
        let date = now
        transactions[index].revocation = nil
        ledger.write(.givenBack(transactions[index].webOrderLineItemId), at: date)
        if index == newest { standing = .running }
        send("REFUND_REVERSED", about: index, after: moment(), since: date)
        guard index == newest, now + 26 * ModelTime.hour > current.expiresDate else { return }
        // The seam of that period is over, or too near for anything but its end.
        if now >= current.expiresDate { standing = .lapsed }
    }
}
