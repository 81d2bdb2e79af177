/// Periods that follow one another.
extension ModelStory {
    /// Renewals ahead of time, a trial, an account that changes, an extension.
    static let renewals = [paidTwentyHoursAhead, trialIsPaidFor, accountChanges, extended]

    /// The money is in long before the period begins.
    private static var paidTwentyHoursAhead: ModelStory {
        var tale = ModelTale("a renewal paid twenty hours ahead")
        let first = tale.purchase(.goldMonthly, at: day(0))
        var renewal = ModelRenewal(after: first)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, renewal, .access(.goldMonthly, until: day(30)))
        renewal.renews = false
        tale.tell(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(10), first, renewal,
            .access(.goldMonthly, until: day(30), renews: false))
        renewal.renews = true
        tale.tell(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", at: day(12), first, renewal,
            .access(.goldMonthly, until: day(30)))
        let second = tale.next(after: first, .goldMonthly, at: day(30))
        let signed = day(30) - 20 * ModelTime.hour
        let paid = ModelTruth.access(.goldMonthly, until: day(60))
        tale.tell("DID_RENEW", at: signed, second, ModelRenewal(after: second), paid)
        tale.cannotLoseThat(from: signed, because: "nothing else tells of that renewal")
        tale.expect(second, at: [day(30) - 1, day(30), day(45), day(60) - 1], paid)
        return tale.story
    }

    /// A free week; the first paid month is charged half a day before the week is over.
    private static var trialIsPaidFor: ModelStory {
        var tale = ModelTale("a trial becomes a paid month")
        let week = tale.purchase(.silverMonthly, at: day(0), offer: .trial)
        tale.tell(
            "SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), week, ModelRenewal(after: week),
            .access(.silverMonthly, until: day(7), isTrial: true))
        let month = tale.next(after: week, .silverMonthly, at: day(7))
        var renewal = ModelRenewal(after: month)
        let stillTrial = ModelTruth.access(.silverMonthly, until: day(37), isTrial: true)
        tale.tell("DID_RENEW", at: day(7) - 12 * ModelTime.hour, month, renewal, stillTrial)
        tale.expect(month, at: [day(7) - 1], stillTrial)
        tale.expect(month, at: [day(7)], .access(.silverMonthly, until: day(37)))
        renewal.renews = false
        let ending = ModelTruth.access(.silverMonthly, until: day(37), renews: false)
        tale.tell("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(20), month, renewal, ending)
        tale.expect(month, at: [day(37) - 1], ending)
        renewal.expirationIntent = 1
        let ended = ModelTruth.noAccess(.silverMonthly, status: 2)
        tale.expect(month, at: [day(37)], ended)
        tale.tell("EXPIRED/VOLUNTARY", at: soonAfter(37), month, renewal, ended)
        tale.expect(month, at: [day(50)], ended)
        return tale.story
    }

    /// The app names another account in the middle of a period; it counts from the next period on.
    private static var accountChanges: ModelStory {
        let old = "0a6d3a1c-51f5-4a6f-9c58-6b1f0c6e7a01"
        let new = "f2b8c0de-7e1a-4b0c-8d4e-2a9b5c7d1e02"
        var tale = ModelTale("another account from the next period on")
        let first = tale.purchase(.goldMonthly, at: day(0), appAccountToken: old)
        var renewal = ModelRenewal(after: first)
        let before = ModelTruth.access(.goldMonthly, until: day(30), appAccountToken: old)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, renewal, before)
        renewal.appAccountToken = new
        renewal.priceIncreaseStatus = 1
        tale.tell("PRICE_INCREASE/ACCEPTED", at: day(10), first, renewal, before)
        let second = tale.next(after: first, .goldMonthly, at: day(30), appAccountToken: new)
        renewal = ModelRenewal(after: second)
        let ahead = ModelTruth.access(.goldMonthly, until: day(60), appAccountToken: old)
        tale.tell("DID_RENEW", at: day(30) - 3 * ModelTime.hour, second, renewal, ahead)
        tale.expect(second, at: [day(30) - 1], ahead)
        tale.expect(second, at: [day(30)], .access(.goldMonthly, until: day(60), appAccountToken: new))
        renewal.renews = false
        let ending = ModelTruth.access(.goldMonthly, until: day(60), renews: false, appAccountToken: new)
        let signed = day(40)
        tale.tell("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: signed, second, renewal, ending)
        tale.cannotLose(
            3, from: signed, until: day(60), because: "whether it will renew is told by that one alone")
        tale.expect(second, at: [day(50), day(60) - 1], ending)
        tale.expect(second, at: [day(60), day(70)], .noAccess(.goldMonthly, status: 2, appAccountToken: new))
        return tale.story
    }

    /// The end of the running period moves by two weeks.
    private static var extended: ModelStory {
        var tale = ModelTale("a period is extended, then ends")
        var month = tale.purchase(.goldMonthly, at: day(0))
        tale.tell(
            "SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), month, ModelRenewal(after: month),
            .access(.goldMonthly, until: day(30)))
        month.expiresDate = day(44)
        var renewal = ModelRenewal(after: month)
        tale.tell("RENEWAL_EXTENDED", at: day(10), month, renewal, .access(.goldMonthly, until: day(44)))
        renewal.renews = false
        let ending = ModelTruth.access(.goldMonthly, until: day(44), renews: false)
        tale.tell("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(20), month, renewal, ending)
        tale.expect(month, at: [day(30), day(44) - 1], ending)
        renewal.expirationIntent = 1
        let ended = ModelTruth.noAccess(.goldMonthly, status: 2)
        tale.expect(month, at: [day(44)], ended)
        tale.tell("EXPIRED/VOLUNTARY", at: soonAfter(44), month, renewal, ended)
        tale.expect(month, at: [day(60)], ended)
        return tale.story
    }
}
