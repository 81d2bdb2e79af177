/// Money given back, and family access taken away.
extension ModelStory {
    /// Refunds of old, current and coming periods, one of them undone.
    static let refunds = [oldPeriodRefunded, upgradeRefunded, refundUndone, paidAheadRefunded, familyAccessEnds]

    private static func refunded(_ transaction: ModelTransaction, at date: Int64) -> ModelTransaction {
        var transaction = transaction
        transaction.revocation = .init(date: date, reason: 0, type: "REFUND_FULL", percentage: 100_000)
        return transaction
    }

    /// The notification names a period long over; status and intentions are the newest period's.
    private static var oldPeriodRefunded: ModelStory {
        var tale = ModelTale("an old period is refunded while a later one runs")
        let first = tale.purchase(.goldMonthly, at: day(0))
        tale.tell(
            "SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, ModelRenewal(after: first),
            .access(.goldMonthly, until: day(30)))
        let second = tale.next(after: first, .goldMonthly, at: day(30))
        tale.tell(
            "DID_RENEW", at: day(30) - 2 * ModelTime.hour, second, ModelRenewal(after: second),
            .access(.goldMonthly, until: day(60)))
        let third = tale.next(after: second, .goldMonthly, at: day(60))
        let renewal = ModelRenewal(after: third)
        let running = ModelTruth.access(.goldMonthly, until: day(90))
        tale.tell("DID_RENEW", at: soonAfter(60), third, renewal, running)
        tale.tell("CONSUMPTION_REQUEST", at: day(65), first, renewal, running)
        tale.tell("REFUND", at: soonAfter(66), refunded(first, at: day(66)), renewal, running)
        tale.expect(third, at: [day(66) + ModelTime.hour, day(75), day(90) - 1], running)
        return tale.story
    }

    /// The better plan is paid back; the old one, replaced by it, stays replaced.
    private static var upgradeRefunded: ModelStory {
        var tale = ModelTale("an upgrade is refunded and the old plan stays gone")
        let old = tale.purchase(.silverYearly, at: day(0))
        tale.tell(
            "SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), old, ModelRenewal(after: old),
            .access(.silverYearly, until: day(365)))
        let new = tale.next(after: old, .goldYearly, at: day(50), reason: "PURCHASE")
        var renewal = ModelRenewal(after: new)
        let upgraded = ModelTruth.access(.goldYearly, until: day(415))
        tale.tell("DID_CHANGE_RENEWAL_PREF/UPGRADE", at: soonAfter(50), new, renewal, upgraded)
        tale.tell("CONSUMPTION_REQUEST", at: day(52), new, renewal, upgraded)
        renewal.renews = false
        let gone = ModelTruth.noAccess(.goldYearly, status: 5)
        tale.expect(new, at: [day(53)], gone)
        tale.tell("REFUND", at: soonAfter(53), refunded(new, at: day(53)), renewal, gone)
        tale.cannotLoseThat(from: day(53), because: "nothing else tells of that refund")
        tale.expect(new, at: [day(100), day(364), day(366), day(416)], gone)
        return tale.story
    }

    /// Three days without access, then it is as if nothing had been.
    private static var refundUndone: ModelStory {
        var tale = ModelTale("a refund is undone")
        let year = tale.purchase(.goldYearly, at: day(0))
        var renewal = ModelRenewal(after: year)
        let running = ModelTruth.access(.goldYearly, until: day(365))
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), year, renewal, running)
        tale.tell("CONSUMPTION_REQUEST", at: day(5), year, renewal, running)
        renewal.renews = false
        let gone = ModelTruth.noAccess(.goldYearly, status: 5)
        tale.expect(year, at: [day(6)], gone)
        tale.tell("REFUND", at: soonAfter(6), refunded(year, at: day(6)), renewal, gone)
        tale.expect(year, at: [day(8)], gone)
        let returned = ModelTruth.access(.goldYearly, until: day(365), renews: false)
        tale.tell("REFUND_REVERSED", at: soonAfter(9), year, renewal, returned)
        tale.cannotLoseThat(from: soonAfter(9), because: "nothing else tells that the refund was undone")
        tale.expect(year, at: [day(10), day(365) - 1], returned)
        return tale.story
    }

    /// The coming period is refunded before it begins; what is left of the old one stays paid for.
    private static var paidAheadRefunded: ModelStory {
        var tale = ModelTale("a renewal paid ahead is refunded before it begins")
        let first = tale.purchase(.goldMonthly, at: day(0))
        tale.tell(
            "SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, ModelRenewal(after: first),
            .access(.goldMonthly, until: day(30)))
        let second = tale.next(after: first, .goldMonthly, at: day(30))
        var renewal = ModelRenewal(after: second)
        tale.tell(
            "DID_RENEW", at: day(30) - 20 * ModelTime.hour, second, renewal, .access(.goldMonthly, until: day(60)))
        renewal.renews = false
        let signed = day(30) - 10 * ModelTime.hour
        let left = ModelTruth.access(.goldMonthly, until: day(30), renews: false)
        let revoked = signed - 5 * ModelTime.second
        tale.tell("REFUND", at: signed, refunded(second, at: revoked), renewal, left)
        tale.cannotLoseThat(from: revoked, because: "nothing else tells of that refund")
        tale.cannotLose(0, from: signed, until: day(30), because: "nothing else tells of the first period")
        tale.expect(second, at: [day(30) - 1], left)
        tale.expect(second, at: [day(30), day(45), day(61)], .noAccess(.goldMonthly, status: 5))
        return tale.story
    }

    /// A member of the family loses what another one pays for.
    private static var familyAccessEnds: ModelStory {
        var tale = ModelTale("family access ends in the second month")
        var first = tale.purchase(.goldMonthly, at: day(0))
        first.isFamilyShared = true
        tale.tell(
            "SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, ModelRenewal(after: first),
            .access(.goldMonthly, until: day(30)))
        var second = tale.next(after: first, .goldMonthly, at: day(30))
        second.isFamilyShared = true
        let renewal = ModelRenewal(after: second)
        tale.tell("DID_RENEW", at: soonAfter(30), second, renewal, .access(.goldMonthly, until: day(60)))
        second.revocation = .init(date: day(40), reason: 0, type: "FAMILY_REVOKE", percentage: nil)
        let gone = ModelTruth.noAccess(.goldMonthly, status: 5)
        tale.expect(second, at: [day(40)], gone)
        tale.tell("REVOKE", at: soonAfter(40), second, renewal, gone)
        tale.cannotLoseThat(from: day(40), because: "nothing else tells that it ended")
        tale.expect(second, at: [day(41), day(59), day(61)], gone)
        return tale.story
    }
}
