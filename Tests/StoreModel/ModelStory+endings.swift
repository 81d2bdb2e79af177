/// Subscriptions that end because the customer wants it so.
extension ModelStory {
    /// Auto-renew switched off, a return after the end, a price that is not agreed to.
    static let endings = [switchedOffLater, cameBack, priceRefused]

    /// On, off, on and off again, in a later period than the first.
    private static var switchedOffLater: ModelStory {
        var tale = ModelTale("auto-renew is switched off in a later period")
        let first = tale.purchase(.goldMonthly, at: day(0))
        tale.tell(
            "SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, ModelRenewal(after: first),
            .access(.goldMonthly, until: day(30)))
        let second = tale.next(after: first, .goldMonthly, at: day(30))
        var renewal = ModelRenewal(after: second)
        let staying = ModelTruth.access(.goldMonthly, until: day(60))
        let ending = ModelTruth.access(.goldMonthly, until: day(60), renews: false)
        tale.tell("DID_RENEW", at: day(30) - 3 * ModelTime.hour, second, renewal, staying)
        renewal.renews = false
        tale.tell("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(35), second, renewal, ending)
        renewal.renews = true
        tale.tell("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", at: day(36), second, renewal, staying)
        renewal.renews = false
        tale.tell("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(40), second, renewal, ending)
        tale.expect(second, at: [day(41), day(60) - 1], ending)
        renewal.expirationIntent = 1
        let ended = ModelTruth.noAccess(.goldMonthly, status: 2)
        tale.expect(second, at: [day(60)], ended)
        tale.tell("EXPIRED/VOLUNTARY", at: soonAfter(60), second, renewal, ended)
        tale.expect(second, at: [day(61), day(120)], ended)
        return tale.story
    }

    /// Bought again after three weeks without, under the same original transaction.
    private static var cameBack: ModelStory {
        var tale = ModelTale("bought again after it had ended")
        let first = tale.purchase(.goldMonthly, at: day(0))
        var renewal = ModelRenewal(after: first)
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), first, renewal, .access(.goldMonthly, until: day(30)))
        renewal.renews = false
        tale.tell(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", at: day(10), first, renewal,
            .access(.goldMonthly, until: day(30), renews: false))
        renewal.expirationIntent = 1
        let ended = ModelTruth.noAccess(.goldMonthly, status: 2)
        tale.tell("EXPIRED/VOLUNTARY", at: soonAfter(30), first, renewal, ended)
        tale.expect(first, at: [day(50) - 1], ended)
        let again = tale.next(after: first, .silverMonthly, at: day(50), reason: "PURCHASE")
        let back = ModelTruth.access(.silverMonthly, until: day(80))
        tale.tell("SUBSCRIBED/RESUBSCRIBE", at: soonAfter(50), again, ModelRenewal(after: again), back)
        tale.expect(again, at: [day(79)], back)
        let renewed = tale.next(after: again, .silverMonthly, at: day(80))
        let signed = day(80) - 8 * ModelTime.hour
        let ahead = ModelTruth.access(.silverMonthly, until: day(110))
        tale.tell("DID_RENEW", at: signed, renewed, ModelRenewal(after: renewed), ahead)
        tale.cannotLoseThat(from: signed, because: "nothing else tells of that renewal")
        tale.expect(renewed, at: [day(80), day(110) - 1], ahead)
        return tale.story
    }

    /// The customer never answers; auto-renew is on until the end.
    private static var priceRefused: ModelStory {
        var tale = ModelTale("a price increase is not agreed to")
        let month = tale.purchase(.goldMonthly, at: day(0))
        var renewal = ModelRenewal(after: month)
        let staying = ModelTruth.access(.goldMonthly, until: day(30))
        tale.tell("SUBSCRIBED/INITIAL_BUY", at: soonAfter(0), month, renewal, staying)
        renewal.priceIncreaseStatus = 0
        tale.tell("PRICE_INCREASE/PENDING", at: day(15), month, renewal, staying)
        tale.expect(month, at: [day(30) - 1], staying)
        renewal.renews = false
        renewal.expirationIntent = 3
        let ended = ModelTruth.noAccess(.goldMonthly, status: 2)
        tale.expect(month, at: [day(30)], ended)
        tale.tell("EXPIRED/PRICE_INCREASE", at: soonAfter(30), month, renewal, ended)
        tale.expect(month, at: [day(31), day(90)], ended)
        return tale.story
    }
}
