extension SimulatedSubscriber {
    /// How a refund is written down.
    public enum RefundForm: Sendable, Hashable {
        /// As before 2025: a date and a reason.
        case plain
        /// With `revocationType` REFUND_FULL and 100 %.
        case full
        /// With `revocationType` REFUND_PRORATED and this share, in percent.
        case prorated(Int64)
    }

    /// The customer asks for money back and Apple wants to know how much was used. CONSUMPTION_REQUEST.
    public mutating func requestRefund(
        of item: SoldItem, reason: String = "UNINTENDED_PURCHASE", at instant: Milliseconds
    ) {
        tell("CONSUMPTION_REQUEST", about: item, at: instant, consumptionRequestReason: reason)
    }

    /// Apple does not give the money back. REFUND_DECLINED.
    public mutating func declineRefund(of item: SoldItem, at instant: Milliseconds) {
        tell("REFUND_DECLINED", about: item, at: instant)
    }

    /// Apple gives the money back. REFUND, about that transaction, which may be of a period long past.
    ///
    /// Refunding the latest period ends access and auto-renew; refunding an older one touches neither.
    public mutating func refund(
        _ item: SoldItem, reason: Int = 0, form: RefundForm = .full, at instant: Milliseconds
    ) {
        self[item].revocationReason = reason
        self[item].revocationDate = instant.wholeSeconds
        switch form {
        case .plain: break
        case .full:
            self[item].revocationType = "REFUND_FULL"
            self[item].revocationPercentage = 100_000
        case .prorated(let percent):
            self[item].revocationType = "REFUND_PRORATED"
            self[item].revocationPercentage = percent * 1000
        }
        if case .period(let line, _) = item, isLatest(item) {
            lines[line.index].phase = .revoked
            lines[line.index].renewal.autoRenewStatus = 0
            refreshRenewal(line)
        }
        tell("REFUND", about: item, at: instant)
    }

    /// The refund is taken back: the transaction is signed anew without a trace of it. REFUND_REVERSED.
    public mutating func reverseRefund(of item: SoldItem, at instant: Milliseconds) {
        clearRevocation(of: item)
        if case .period(let line, _) = item, isLatest(item) {
            lines[line.index].phase = lines[line.index].expiresDate > instant ? .active : .expired
        }
        tell("REFUND_REVERSED", about: item, at: instant)
    }

    /// The purchaser stops sharing, or leaves the family. REVOKE.
    public mutating func revokeFamily(_ line: SubscriptionLine.Reference, at instant: Milliseconds) {
        let item = latest(of: line)
        self[item].revocationReason = 0
        self[item].revocationDate = instant.wholeSeconds
        self[item].revocationType = "FAMILY_REVOKE"
        lines[line.index].phase = .revoked
        lines[line.index].renewal.autoRenewStatus = 0
        refreshRenewal(line)
        emit("REVOKE", on: line, at: instant)
    }

    private mutating func clearRevocation(of item: SoldItem) {
        self[item].revocationReason = nil
        self[item].revocationDate = nil
        self[item].revocationType = nil
        self[item].revocationPercentage = nil
    }

    /// Whether an item belongs to the latest paid period of its subscription, perhaps under the identifier of a restored copy.
    private func isLatest(_ item: SoldItem) -> Bool {
        guard case .period(let line, _) = item else { return false }
        return self[item].webOrderLineItemId == self[latest(of: line)].webOrderLineItemId
    }

    private mutating func tell(
        _ type: String, about item: SoldItem, at instant: Milliseconds, consumptionRequestReason: String? = nil
    ) {
        switch item {
        case .period(let line, _):
            emit(type, nil, on: line, about: item, at: instant, consumptionRequestReason: consumptionRequestReason)
        case .single:
            emit(type, about: item, at: instant, consumptionRequestReason: consumptionRequestReason)
        }
    }
}
