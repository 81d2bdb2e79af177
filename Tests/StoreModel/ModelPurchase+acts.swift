/// What may happen while a period runs.
extension ModelPurchase {
    /// Does one thing that suits the moment.
    mutating func act() {
        if isFamilyShared {
            if hasBegun, random.chance(25) { revokeFamilyAccess() }
            return
        }
        if askedRefund != nil, random.chance(70) { return decideRefund() }
        if reversible != nil, random.chance(40) { return reverseRefund() }
        switch random.between(0, 99) {
        case 0..<28: switchRenewal()
        case 28..<52: changePlan()
        case 52..<68: askRefund()
        case 68..<74: refundOlder()
        case 74..<84: redeemOffer()
        case 84..<91: raisePrice()
        case 91..<95: extend()
        case 95..<97: send("RENEWAL_EXTENSION", "FAILURE", after: moment())
        default: renewal.appAccountToken = random.uuid()
        }
    }

    /// The customer switches auto-renew off, or on again.
    mutating func switchRenewal() {
        let date = now
        renewal.renews.toggle()
        ledger.write(.renewing(renewal.renews), at: date)
        let subtype = renewal.renews ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED"
        send("DID_CHANGE_RENEWAL_STATUS", subtype, after: moment(), since: date)
    }

    private mutating func changePlan() {
        guard renewal.renews else { return switchRenewal() }
        if renewal.nextPlan != current.plan, random.chance(50) {
            renewal.nextPlan = current.plan
            return send("DID_CHANGE_RENEWAL_PREF", after: moment())
        }
        let plan = random.pick(ModelPlan.all.filter { $0 != current.plan })
        if current.plan.changesAtOnce(to: plan) {
            upgrade(to: plan, type: "DID_CHANGE_RENEWAL_PREF")
        } else {
            renewal.nextPlan = plan
            send("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", after: moment())
        }
    }

    private mutating func upgrade(to plan: ModelPlan, type: String, offer: ModelOffer? = nil) {
        guard hasBegun else { return }
        let old = newest
        let date = now
        transactions[old].isUpgraded = true
        ledger.write(.replaced(transactions[old].webOrderLineItemId), at: date)
        begin(transaction(plan, begins: date, reason: "PURCHASE", offer: offer), chargedAt: date)
        send(type, "UPGRADE", after: moment())
        // The rest of the old period is paid back, but the store does not always say so.
        guard random.chance(40) else { return }
        transactions[old].revocation = .init(
            date: date, reason: 0, type: "REFUND_PRORATED", percentage: random.between(1, 99) * 1_000)
        ledger.write(.takenBack(transactions[old].webOrderLineItemId), at: now)
        send("REFUND", about: old, after: moment())
    }

    private mutating func redeemOffer() {
        let offer = ModelOffer.freeWeeks(type: random.pick([2, 3]))
        guard renewal.renews else { return switchRenewal() }
        let others = ModelPlan.all.filter { $0 != current.plan }
        let better = others.filter { current.plan.changesAtOnce(to: $0) }
        switch random.between(0, 2) {
        case 0 where !better.isEmpty:
            upgrade(to: random.pick(better), type: "OFFER_REDEEMED", offer: offer)
        case 1:
            renewal.nextPlan = random.pick(others.filter { !current.plan.changesAtOnce(to: $0) } + [.bronzeWeekly])
            renewal.nextOffer = offer
            send("OFFER_REDEEMED", renewal.nextPlan == current.plan ? nil : "DOWNGRADE", after: moment())
        default:
            renewal.nextOffer = offer
            send("OFFER_REDEEMED", after: moment())
        }
    }

    private mutating func raisePrice() {
        guard renewal.renews else { return }
        if renewal.priceIncreaseStatus == nil {
            renewal.priceIncreaseStatus = 0
            send("PRICE_INCREASE", "PENDING", after: moment())
            guard random.chance(60) else { return }
            now += random.between(ModelTime.minute, 12 * ModelTime.hour)
            renewal.priceIncreaseStatus = 1
            send("PRICE_INCREASE", "ACCEPTED", after: moment())
        } else if renewal.priceIncreaseStatus == 0 {
            renewal.priceIncreaseStatus = 1
            send("PRICE_INCREASE", "ACCEPTED", after: moment())
        }
    }

    private mutating func extend() {
        guard hasBegun else { return }
        let date = now
        current.expiresDate += random.between(1, 90) * ModelTime.day
        renewal.renewalDate = current.expiresDate
        ledger.write(.extended(current.webOrderLineItemId, to: current.expiresDate), at: date)
        send("RENEWAL_EXTENDED", after: moment(), since: date)
    }

    private mutating func revokeFamilyAccess() {
        current.revocation = .init(date: now, reason: 0, type: "FAMILY_REVOKE", percentage: nil)
        ledger.write(.takenBack(current.webOrderLineItemId), at: now)
        standing = .revoked
        send("REVOKE", after: moment())
    }
}
