/// What happens where a paid period ends.
extension ModelPurchase {
    /// Comes to the end of the newest period: it renews, ends, or the charge fails.
    mutating func meetSeam() {
        let end = current.expiresDate
        actsLeft = 0
        guard renewal.renews else { return expire("VOLUNTARY", intent: 1, at: end) }
        guard renewal.priceIncreaseStatus != 0 else { return expire("PRICE_INCREASE", intent: 3, at: end) }
        switch random.between(0, 99) {
        case 0..<3: expire("PRODUCT_NOT_FOR_SALE", intent: 4, at: end)
        case 3..<5: expire(nil, intent: 5, at: end)
        case 5..<25: failToCharge(at: end)
        default: renew(at: end)
        }
    }

    private mutating func renew(at end: Int64) {
        let next = transaction(renewal.nextPlan, begins: end, reason: "RENEWAL", offer: renewal.nextOffer)
        guard random.chance(60) else {
            now = end
            begin(next, chargedAt: end)
            return send("DID_RENEW", after: random.between(2, 60) * ModelTime.second)
        }
        // Paid ahead: the period begins where the old one ends, but the money is in already.
        let ahead = random.between(5 * ModelTime.minute, 24 * ModelTime.hour)
        now = max(now + ModelTime.minute, end - ahead)
        let date = now
        begin(next, chargedAt: date)
        send("DID_RENEW", after: moment(), since: date)
        // Between the charge and the seam the newest period is not yet the one in force.
        guard !isFamilyShared, end - now > 2 * ModelTime.hour, random.chance(15) else { return }
        now = random.between(now + ModelTime.minute, end - ModelTime.hour)
        switch random.between(0, 99) {
        case 0..<30: refund(newest)
        case 30..<65: buyInstead()
        default: switchRenewal()
        }
    }

    /// A better plan, while the next period is paid for already: that one never begins, and its money goes back.
    private mutating func buyInstead() {
        let (running, coming) = (transactions[newest - 1], current)
        let better = ModelPlan.all.filter { running.plan.changesAtOnce(to: $0) && $0 != coming.plan }
        guard !better.isEmpty, running.revocation == nil else { return switchRenewal() }
        let (date, dropped) = (now, newest)
        ledger.write(.replaced(running.webOrderLineItemId), at: date)
        ledger.write(.dropped(coming.webOrderLineItemId), at: date)
        transactions[newest - 1].isUpgraded = true
        transactions[newest].isUpgraded = true
        begin(transaction(random.pick(better), begins: date, reason: "PURCHASE"), chargedAt: date)
        send("DID_CHANGE_RENEWAL_PREF", "UPGRADE", after: moment())
        guard random.chance(50) else { return }
        transactions[dropped].revocation = .init(date: now, reason: 0, type: "REFUND_FULL", percentage: 100_000)
        send("REFUND", about: dropped, after: moment())
    }

    private mutating func expire(_ subtype: String?, intent: Int64, at end: Int64) {
        now = max(now, end)
        if renewal.renews {
            renewal.renews = false
            ledger.write(.renewing(false), at: now)
        }
        renewal.expirationIntent = intent
        standing = .lapsed
        send("EXPIRED", subtype, after: random.between(2 * ModelTime.second, 2 * ModelTime.hour))
    }

    private mutating func failToCharge(at end: Int64) {
        now = end
        let days = current.plan.days > 7 ? random.pick([3, 16, 28]) : random.pick([3, 6])
        let graceEnd = random.chance(50) ? end + Int64(days) * ModelTime.day : nil
        // In grace the status says as much, and the store may leave the flag out.
        renewal.isInBillingRetry = graceEnd != nil && random.chance(30) ? nil : true
        renewal.graceEnd = graceEnd
        ledger.write(.chargeFailed(graceEnd: graceEnd), at: end)
        let delay = random.between(2 * ModelTime.second, 10 * ModelTime.minute)
        send("DID_FAIL_TO_RENEW", graceEnd == nil ? nil : "GRACE_PERIOD", after: delay, since: end)
        if let graceEnd {
            if random.chance(40) {
                return recover(at: random.between(now + ModelTime.hour, graceEnd - ModelTime.hour))
            }
            now = graceEnd
            renewal.isInBillingRetry = true
            send("GRACE_PERIOD_EXPIRED", after: moment())
        }
        retry(until: end + ModelTime.retry)
    }

    private mutating func retry(until giveUp: Int64) {
        now += random.between(ModelTime.hour, 5 * ModelTime.day)
        if random.chance(20), !isFamilyShared { refundOlder() }
        if random.chance(15), !isFamilyShared { askRefund() }
        if mayBuyAgain, boughtAgainAt == nil, random.chance(25) {
            boughtAgainAt = now
            // The rest of the life belongs to the new purchase; this one only comes to its end.
            target = min(target, sent.count + Int(random.between(1, 3)))
        }
        switch random.between(0, 99) {
        case 0..<50:
            recover(at: random.between(now + ModelTime.hour, giveUp - ModelTime.hour))
        case 50..<65 where !isFamilyShared:
            now += random.between(ModelTime.hour, 10 * ModelTime.day)
            cancelRetry()
        default:
            now = giveUp
            ledger.write(.gaveUp, at: giveUp)
            renewal.isInBillingRetry = random.chance(50) ? false : nil
            expire("BILLING_RETRY", intent: 2, at: giveUp)
        }
    }

    /// The charge succeeds at the instant, in epoch milliseconds, and a period begins there.
    private mutating func recover(at date: Int64) {
        now = date
        begin(transaction(renewal.nextPlan, begins: date, reason: "RENEWAL", offer: renewal.nextOffer), chargedAt: date)
        send("DID_RENEW", "BILLING_RECOVERY", after: moment())
    }

    private mutating func cancelRetry() {
        let date = now
        renewal.renews = false
        renewal.isInBillingRetry = nil
        ledger.write(.renewing(false), at: date)
        ledger.write(.gaveUp, at: date)
        send("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", after: moment(), since: date)
        expire("VOLUNTARY", intent: 1, at: now)
    }

    /// What becomes of a customer whose last period ended or was taken back.
    mutating func comeBack() {
        now = max(now, current.purchaseDate) + random.between(2 * ModelTime.hour, 20 * ModelTime.day)
        if !isFamilyShared {
            if standing == .revoked, reversible == newest, random.chance(35) { return reverseRefund() }
            if standing == .lapsed, current.revocation == nil, random.chance(10) { return refund(newest) }
            if random.chance(15) { refundOlder() }
            if standing == .lapsed, current.revocation == nil, random.chance(10) { askRefund() }
            now += random.between(ModelTime.hour, 70 * ModelTime.day)
        }
        resubscribe()
    }

    private mutating func resubscribe() {
        let date = now
        let old = current
        // A period that was taken back and is bought over would otherwise return if its refund were undone.
        if old.expiresDate > date { ledger.write(.replaced(old.webOrderLineItemId), at: date) }
        let plan = random.pick(ModelPlan.all)
        let offer = random.chance(25) && !isFamilyShared ? ModelOffer.freeWeeks(type: random.pick([2, 3, 4])) : nil
        let gap = date - (old.revocation?.date ?? old.expiresDate)
        if random.chance(30), renewal.appAccountToken != nil { renewal.appAccountToken = random.uuid() }
        begin(
            transaction(plan, begins: date, reason: "PURCHASE", offer: offer), chargedAt: date,
            recentStart: gap > 60 * ModelTime.day ? date : nil)
        send("SUBSCRIBED", "RESUBSCRIBE", after: moment())
    }
}
