/// One plan takes the place of another.
extension ModelStory {
    /// Upgrades, downgrades and changes between plans of different length.
    static let plans = [
        yearUpgradedToMonth, upgradePaysBackTheRest, renewalIntoDowngrade, yearBecomesWeek, yearInsteadOfPaidMonth,
        weekInsteadOfPaidMonth, twoPlansInsteadOfPaidMonth,
    ]

    /// The old plan would have lasted longer than the new one, and must not come back when that ends.
    private static var yearUpgradedToMonth: ModelStory {
        var tale = ModelTale("a year is upgraded to a better month, which ends")
        let year = tale.purchase(.silverYearly, at: day(0))
        var renewal = ModelRenewal(after: year)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), year, renewal, .access(.silverYearly, until: day(365)))
        renewal.renews = false
        tale.tell(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(20), year, renewal,
            .access(.silverYearly, until: day(365), renews: false))
        renewal.renews = true
        tale.tell(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", at: day(21), year, renewal,
            .access(.silverYearly, until: day(365)))
        let month = tale.next(after: year, .goldMonthly, at: day(40), reason: "PURCHASE")
        tale.tell(
            "DID_CHANGE_RENEWAL_PREF/UPGRADE", at: soonAfter(40), month, ModelRenewal(after: month),
            .access(.goldMonthly, until: day(70)))
        tale.expect(month, at: [day(55), day(70) - 1], .access(.goldMonthly, until: day(70)))
        let second = tale.next(after: month, .goldMonthly, at: day(70))
        renewal = ModelRenewal(after: second)
        tale.tell("DID_RENEW", at: soonAfter(70), second, renewal, .access(.goldMonthly, until: day(100)))
        renewal.renews = false
        let ending = ModelTruth.access(.goldMonthly, until: day(100), renews: false)
        tale.tell("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(80), second, renewal, ending)
        tale.expect(second, at: [day(100) - 1], ending)
        renewal.expirationIntent = 1
        let ended = ModelTruth.noAccess(.goldMonthly, status: 2)
        tale.expect(second, at: [day(100)], ended)
        tale.tell("EXPIRED/VOLUNTARY", at: soonAfter(100), second, renewal, ended)
        tale.expect(second, at: [day(200), day(364), day(366)], ended)
        return tale.story
    }

    /// A month of silver, and the next one that was paid for ten hours ahead.
    private static func paidAhead(_ name: String) -> (tale: ModelTale, coming: ModelTransaction) {
        var tale = ModelTale(name)
        let first = tale.purchase(.silverMonthly, at: day(0))
        tale.tell(
            "SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, ModelRenewal(after: first),
            .access(.silverMonthly, until: day(30)))
        let second = tale.next(after: first, .silverMonthly, at: day(30))
        tale.tell(
            "DID_RENEW", at: day(30) - 10 * ModelTime.hour, second, ModelRenewal(after: second),
            .access(.silverMonthly, until: day(60)))
        return (tale, second)
    }

    /// The month that was paid for never begins, and its money goes back.
    private static var yearInsteadOfPaidMonth: ModelStory {
        var (tale, second) = paidAhead("a year is bought while the next month is paid for already")
        let bought = day(30) - 3 * ModelTime.hour - 30 * ModelTime.minute
        let year = tale.next(after: second, .goldYearly, at: bought, reason: "PURCHASE")
        let truth = ModelTruth.access(.goldYearly, until: bought + 365 * ModelTime.day)
        tale.tell(
            "DID_CHANGE_RENEWAL_PREF/UPGRADE", at: bought + ModelTime.second, year, ModelRenewal(after: year), truth)
        tale.expect(year, at: [day(30) - 1, day(30), day(31) - 1], truth)
        second.isUpgraded = true
        second.revocation = .init(date: day(31), reason: 0, type: "REFUND_FULL", percentage: 100_000)
        tale.tell("REFUND", at: soonAfter(31), second, ModelRenewal(after: year), truth)
        tale.expect(year, at: [day(32), day(59), day(61), day(394)], truth)
        return tale.story
    }

    /// The month that was paid for would have outlasted all that was bought instead.
    private static var weekInsteadOfPaidMonth: ModelStory {
        var (tale, second) = paidAhead("a week is bought while the next month is paid for already, and renews")
        let bought = day(30) - 3 * ModelTime.hour - 30 * ModelTime.minute
        let week = tale.next(after: second, .goldWeekly, at: bought, reason: "PURCHASE")
        let truth = ModelTruth.access(.goldWeekly, until: week.expiresDate)
        tale.tell(
            "DID_CHANGE_RENEWAL_PREF/UPGRADE", at: bought + ModelTime.second, week, ModelRenewal(after: week), truth)
        tale.expect(week, at: [day(30) - 1, day(30), week.expiresDate - 1], truth)
        second = tale.next(after: week, .goldWeekly, at: week.expiresDate)
        var renewal = ModelRenewal(after: second)
        let renewed = ModelTruth.access(.goldWeekly, until: second.expiresDate)
        tale.tell("DID_RENEW", at: week.expiresDate + 20 * ModelTime.second, second, renewal, renewed)
        tale.expect(second, at: [second.expiresDate - 1], renewed)
        renewal.renews = false
        renewal.expirationIntent = 1
        let ended = ModelTruth.noAccess(.goldWeekly, status: 2)
        tale.expect(second, at: [second.expiresDate], ended)
        tale.tell("EXPIRED/VOLUNTARY", at: second.expiresDate + 20 * ModelTime.second, second, renewal, ended)
        tale.expect(second, at: [day(45), day(59), day(61)], ended)
        return tale.story
    }

    /// The second of the two ends the first.
    private static var twoPlansInsteadOfPaidMonth: ModelStory {
        let (start, second) = paidAhead("two plans are bought while the next month is paid for already")
        var tale = start
        let one = tale.next(after: second, .goldDuo, at: day(30) - 5 * ModelTime.hour, reason: "PURCHASE")
        let first = ModelTruth.access(.goldDuo, until: one.expiresDate)
        tale.tell(
            "DID_CHANGE_RENEWAL_PREF/UPGRADE", at: one.purchaseDate + ModelTime.second, one, ModelRenewal(after: one),
            first)
        tale.expect(one, at: [day(30) - 4 * ModelTime.hour], first)
        let other = tale.next(after: one, .goldMonthly, at: day(30) - 2 * ModelTime.hour, reason: "PURCHASE")
        let truth = ModelTruth.access(.goldMonthly, until: other.expiresDate)
        tale.tell(
            "DID_CHANGE_RENEWAL_PREF/UPGRADE", at: other.purchaseDate + ModelTime.second, other,
            ModelRenewal(after: other), truth)
        tale.cannotLoseThat(from: other.purchaseDate, because: "nothing else tells of the second plan")
        tale.expect(other, at: [day(30), day(45), other.expiresDate - 1], truth)
        tale.expect(other, at: [other.expiresDate], .noAccess(.goldMonthly, status: 2))
        return tale.story
    }

    /// The refund names the old transaction, the intentions beside it already speak of the new one.
    private static var upgradePaysBackTheRest: ModelStory {
        var tale = ModelTale("an upgrade, and the refund of what was left of the old plan")
        var old = tale.purchase(.silverYearly, at: day(0))
        tale.tell(
            "SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), old, ModelRenewal(after: old),
            .access(.silverYearly, until: day(365)))
        let new = tale.next(after: old, .goldYearly, at: day(40), reason: "PURCHASE")
        let renewal = ModelRenewal(after: new)
        let upgraded = ModelTruth.access(.goldYearly, until: day(405))
        tale.tell("DID_CHANGE_RENEWAL_PREF/UPGRADE", at: soonAfter(40), new, renewal, upgraded)
        old.isUpgraded = true
        old.revocation = .init(date: day(40), reason: 0, type: "REFUND_PRORATED", percentage: 89_000)
        tale.tell("REFUND", at: soonAfter(40) + ModelTime.minute, old, renewal, upgraded)
        tale.expect(new, at: [day(41), day(364), day(366), day(404)], upgraded)
        return tale.story
    }

    /// The downgrade waits for the renewal, and that is paid some hours ahead.
    private static var renewalIntoDowngrade: ModelStory {
        var tale = ModelTale("a renewal into a smaller plan")
        let gold = tale.purchase(.goldMonthly, at: day(0))
        var renewal = ModelRenewal(after: gold)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), gold, renewal, .access(.goldMonthly, until: day(30)))
        renewal.nextPlan = .silverMonthly
        tale.tell(
            "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", at: day(10), gold, renewal, .access(.goldMonthly, until: day(30)))
        let silver = tale.next(after: gold, .silverMonthly, at: day(30))
        let paidAhead = ModelTruth.access(.goldMonthly, until: day(30))
        tale.tell("DID_RENEW", at: day(30) - 6 * ModelTime.hour, silver, ModelRenewal(after: silver), paidAhead)
        tale.expect(silver, at: [day(30) - 1], paidAhead)
        tale.expect(silver, at: [day(30), day(45), day(60) - 1], .access(.silverMonthly, until: day(60)))
        let second = tale.next(after: silver, .silverMonthly, at: day(60))
        let renewed = ModelTruth.access(.silverMonthly, until: day(90))
        tale.expect(second, at: [day(60)], renewed)
        tale.tell("DID_RENEW", at: soonAfter(60), second, ModelRenewal(after: second), renewed)
        tale.cannotLoseThat(from: day(60), because: "nothing else tells of that renewal")
        tale.expect(second, at: [day(75), day(90) - 1], renewed)
        return tale.story
    }

    /// Same rank, other length: that waits for the renewal too.
    private static var yearBecomesWeek: ModelStory {
        var tale = ModelTale("a year becomes a week at its renewal, after a change of mind")
        let year = tale.purchase(.goldYearly, at: day(0))
        var renewal = ModelRenewal(after: year)
        let yearly = ModelTruth.access(.goldYearly, until: day(365))
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), year, renewal, yearly)
        renewal.nextPlan = .goldWeekly
        tale.tell("DID_CHANGE_RENEWAL_PREF/DOWNGRADE", at: day(100), year, renewal, yearly)
        renewal.nextPlan = .goldYearly
        tale.tell("DID_CHANGE_RENEWAL_PREF", at: day(110), year, renewal, yearly)
        renewal.nextPlan = .goldWeekly
        tale.tell("DID_CHANGE_RENEWAL_PREF/DOWNGRADE", at: day(120), year, renewal, yearly)
        let week = tale.next(after: year, .goldWeekly, at: day(365))
        renewal = ModelRenewal(after: week)
        tale.tell(
            "DID_RENEW", at: day(365) - 10 * ModelTime.hour, week, renewal, .access(.goldYearly, until: day(365)))
        tale.expect(week, at: [day(365), day(367)], .access(.goldWeekly, until: day(372)))
        renewal.renews = false
        let ending = ModelTruth.access(.goldWeekly, until: day(372), renews: false)
        tale.tell("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(368), week, renewal, ending)
        tale.expect(week, at: [day(372) - 1], ending)
        renewal.expirationIntent = 1
        let ended = ModelTruth.noAccess(.goldWeekly, status: 2)
        tale.expect(week, at: [day(372)], ended)
        tale.tell("EXPIRED/VOLUNTARY", at: soonAfter(372), week, renewal, ended)
        tale.expect(week, at: [day(400)], ended)
        return tale.story
    }
}
