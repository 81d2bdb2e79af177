/// Charges that fail.
extension ModelStory {
    /// Retry and grace, with and without recovery.
    static let billing = [
        recoveredFromRetry, recoveredInGrace, graceWithoutFlag, graceLeftOver, graceLeftOverAhead,
        boughtAgainDuringRetry,
    ]

    /// No grace; the new period begins on the day the charge succeeds.
    private static var recoveredFromRetry: ModelStory {
        var tale = ModelTale("a charge fails and succeeds eleven days later")
        let first = tale.purchase(.goldMonthly, at: day(0))
        var renewal = ModelRenewal(after: first)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, renewal, .access(.goldMonthly, until: day(30)))
        renewal.isInBillingRetry = true
        let failing = ModelTruth.noAccess(.goldMonthly, status: 3)
        tale.tell("DID_FAIL_TO_RENEW", at: soonAfter(30), first, renewal, failing)
        tale.expect(first, at: [day(41) - 1], failing)
        let second = tale.next(after: first, .goldMonthly, at: day(41))
        let recovered = ModelTruth.access(.goldMonthly, until: day(71))
        tale.expect(second, at: [day(41)], recovered)
        tale.tell("DID_RENEW/BILLING_RECOVERY", at: soonAfter(41), second, ModelRenewal(after: second), recovered)
        tale.expect(second, at: [day(60), day(70)], recovered)
        let third = tale.next(after: second, .goldMonthly, at: day(71))
        let signed = day(71) - 4 * ModelTime.hour
        let renewed = ModelTruth.access(.goldMonthly, until: day(101))
        tale.tell("DID_RENEW", at: signed, third, ModelRenewal(after: third), renewed)
        tale.cannotLoseThat(from: signed, because: "nothing else tells of that renewal")
        tale.expect(third, at: [day(71), day(101) - 1], renewed)
        return tale.story
    }

    /// Access never stops.
    private static var recoveredInGrace: ModelStory {
        var tale = ModelTale("a charge fails and succeeds within grace")
        let first = tale.purchase(.goldMonthly, at: day(0))
        var renewal = ModelRenewal(after: first)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, renewal, .access(.goldMonthly, until: day(30)))
        renewal.isInBillingRetry = true
        renewal.graceEnd = day(46)
        let grace = ModelTruth.access(.goldMonthly, until: day(46), inGrace: true)
        tale.tell("DID_FAIL_TO_RENEW/GRACE_PERIOD", at: soonAfter(30), first, renewal, grace)
        tale.expect(first, at: [day(36) - 1], grace)
        let second = tale.next(after: first, .goldMonthly, at: day(36))
        let recovered = ModelTruth.access(.goldMonthly, until: day(66))
        tale.expect(second, at: [day(36)], recovered)
        tale.tell("DID_RENEW/BILLING_RECOVERY", at: soonAfter(36), second, ModelRenewal(after: second), recovered)
        tale.expect(second, at: [day(46), day(66) - 1], recovered)
        let third = tale.next(after: second, .goldMonthly, at: day(66))
        let renewed = ModelTruth.access(.goldMonthly, until: day(96))
        tale.expect(third, at: [day(66)], renewed)
        tale.tell("DID_RENEW", at: soonAfter(66), third, ModelRenewal(after: third), renewed)
        tale.cannotLoseThat(from: day(66), because: "nothing else tells of that renewal")
        tale.expect(third, at: [day(96) - 1], renewed)
        return tale.story
    }

    /// Nothing but the signed status and the date tells that it is grace.
    private static var graceWithoutFlag: ModelStory {
        var tale = ModelTale("a charge fails, and the flag for that is left out while grace lasts")
        let first = tale.purchase(.goldMonthly, at: day(0))
        var renewal = ModelRenewal(after: first)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, renewal, .access(.goldMonthly, until: day(30)))
        renewal.graceEnd = day(46)
        let grace = ModelTruth.access(.goldMonthly, until: day(46), inGrace: true)
        tale.tell("DID_FAIL_TO_RENEW/GRACE_PERIOD", at: soonAfter(30), first, renewal, grace)
        tale.expect(first, at: [day(32), day(40)], grace)
        tale.tell("CONSUMPTION_REQUEST", at: day(41), first, renewal, grace)
        tale.expect(first, at: [day(46) - 1], grace)
        let failing = ModelTruth.noAccess(.goldMonthly, status: 3)
        tale.expect(first, at: [day(46)], failing)
        renewal.isInBillingRetry = true
        tale.tell("GRACE_PERIOD_EXPIRED", at: soonAfter(46), first, renewal, failing)
        tale.expect(first, at: [day(47), day(90) - 1], failing)
        return tale.story
    }

    /// Sixty days of trying; the grace date stays where it was.
    private static var graceLeftOver: ModelStory {
        var tale = ModelTale("grace and retry run out, and the grace date stays")
        let month = tale.purchase(.goldMonthly, at: day(0))
        var renewal = ModelRenewal(after: month)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), month, renewal, .access(.goldMonthly, until: day(30)))
        renewal.isInBillingRetry = true
        renewal.graceEnd = day(46)
        let grace = ModelTruth.access(.goldMonthly, until: day(46), inGrace: true)
        tale.tell("DID_FAIL_TO_RENEW/GRACE_PERIOD", at: soonAfter(30), month, renewal, grace)
        tale.expect(month, at: [day(46) - 1], grace)
        let failing = ModelTruth.noAccess(.goldMonthly, status: 3)
        tale.expect(month, at: [day(46)], failing)
        tale.tell("GRACE_PERIOD_EXPIRED", at: soonAfter(46), month, renewal, failing)
        tale.expect(month, at: [day(47), day(90) - 1], failing)
        renewal.isInBillingRetry = false
        renewal.expirationIntent = 2
        renewal.renews = false
        let ended = ModelTruth.noAccess(.goldMonthly, status: 2)
        tale.expect(month, at: [day(90)], ended)
        tale.tell("EXPIRED/BILLING_RETRY", at: soonAfter(90), month, renewal, ended)
        tale.expect(month, at: [day(91), day(200)], ended)
        return tale.story
    }

    /// It ends while the grace date left standing still lies ahead.
    private static var graceLeftOverAhead: ModelStory {
        var tale = ModelTale("it ends before the grace date that was announced")
        let month = tale.purchase(.goldMonthly, at: day(0))
        var renewal = ModelRenewal(after: month)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), month, renewal, .access(.goldMonthly, until: day(30)))
        renewal.isInBillingRetry = true
        renewal.graceEnd = day(46)
        let grace = ModelTruth.access(.goldMonthly, until: day(46), inGrace: true)
        tale.tell("DID_FAIL_TO_RENEW/GRACE_PERIOD", at: soonAfter(30), month, renewal, grace)
        renewal.isInBillingRetry = false
        renewal.expirationIntent = 1
        renewal.renews = false
        let ended = ModelTruth.noAccess(.goldMonthly, status: 2)
        tale.tell("EXPIRED/VOLUNTARY", at: soonAfter(33), month, renewal, ended)
        tale.cannotLose(
            2, from: soonAfter(33), until: day(90), because: "that trying stopped early is told by that one alone")
        tale.expect(month, at: [day(34), day(46) - 1, day(46), day(100)], ended)
        return tale.story
    }

    /// The second purchase is one of its own, and the end of the first takes nothing from it.
    private static var boughtAgainDuringRetry: ModelStory {
        var tale = ModelTale("bought again under a new original transaction while a charge fails")
        let old = tale.purchase(.goldMonthly, at: day(0))
        var oldRenewal = ModelRenewal(after: old)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), old, oldRenewal, .access(.goldMonthly, until: day(30)))
        oldRenewal.isInBillingRetry = true
        let failing = ModelTruth.noAccess(.goldMonthly, status: 3)
        tale.tell("DID_FAIL_TO_RENEW", at: soonAfter(30), old, oldRenewal, failing)
        let new = tale.purchase(.silverMonthly, at: day(35))
        var newRenewal = ModelRenewal(after: new)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(35), new, newRenewal, .access(.silverMonthly, until: day(65)))
        newRenewal.renews = false
        let ending = ModelTruth.access(.silverMonthly, until: day(65), renews: false)
        tale.tell("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(50), new, newRenewal, ending)
        tale.expect(new, at: [day(65) - 1], ending)
        newRenewal.expirationIntent = 1
        let newEnded = ModelTruth.noAccess(.silverMonthly, status: 2)
        tale.expect(new, at: [day(65)], newEnded)
        tale.tell("EXPIRED/VOLUNTARY", at: soonAfter(65), new, newRenewal, newEnded)
        tale.expect(new, at: [day(66), day(91)], newEnded)
        tale.expect(old, at: [day(50), day(66), day(90) - 1], failing)
        oldRenewal.isInBillingRetry = nil
        oldRenewal.expirationIntent = 2
        let oldEnded = ModelTruth.noAccess(.goldMonthly, status: 2)
        tale.expect(old, at: [day(90)], oldEnded)
        tale.tell("EXPIRED/BILLING_RETRY", at: soonAfter(90), old, oldRenewal, oldEnded)
        tale.expect(old, at: [day(91)], oldEnded)
        return tale.story
    }
}
