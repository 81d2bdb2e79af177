@testable import Simulation

extension Story {
    /// Lives that begin, go on or begin again with an offer.
    static let offerStories: [Story] = [
        Story(
            "trial-converts",
            teaches:
                "A free trial is a period like any other, called trial while it lasts, even once the first charge is "
                + "known."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumMonthly, offer: .freeWeek, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(1), .trial, renews: true, .premiumMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(7) - .minutes(30), .trial, renews: true, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(8), .active, renews: true, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(36), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "trial-cancelled",
            teaches: "A trial whose auto-renew is off is cancelled, with access to its end."
        ) { tale in
            var anna = tale.subscriber()
            let line = anna.buy(.basicYearly, offer: .freeWeek, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(1), .trial, renews: true, .basicYearly)
            anna.switchAutoRenew(line, on: false, at: tale.day(2))
            tale.expect(anna, line, at: tale.day(3), .cancelled, renews: false, .basicYearly)
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(8), .expired, renews: false, .basicYearly)
            tale.tell(&anna)
        },
        Story(
            "trial-not-paid",
            teaches:
                "A trial can run into billing retry: the latest period, not the trial, says how long retries go "
                + "on."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumMonthly, offer: .freeWeek, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(6), .trial, renews: true, .premiumMonthly)
            anna.failToRenew(line)
            tale.expect(anna, line, at: tale.day(8), .billingRetry, renews: nil, .premiumMonthly)
            anna.recover(line, at: tale.day(20))
            tale.expect(anna, line, at: tale.day(21), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "paid-up-front",
            teaches: "An offer paid up front may make the first period longer than the product's, and it is no trial."
        ) { tale in
            var anna = tale.subscriber(.germany, token: tale.token())
            let line = anna.buy(.basicMonthly, offer: .quarterUpFront, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(1), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(80), .active, renews: true, .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(91), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(121), .expired, renews: nil, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "code-for-a-free-month",
            teaches: "A free month that a code gave is a paid period that costs nothing, and no trial."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, offer: .codeFreeMonth, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(20), .active, renews: true, .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "promotion-for-the-next-month",
            teaches:
                "An active subscriber's offer is in the renewal info first, and in a transaction only when it is "
                + "charged."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.redeem(.promotion, line, at: tale.day(5))
            tale.expect(anna, line, at: tale.day(6), .active, renews: true, .basicMonthly, next: .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(61), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "promotion-to-upgrade",
            teaches: "An offer may upgrade at once."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.upgrade(line, to: .premiumMonthly, offer: .promotion, announcedAs: "OFFER_REDEEMED", at: tale.day(12))
            tale.expect(anna, line, at: tale.day(13), .active, renews: true, .premiumMonthly, next: .premiumMonthly)
            tale.expect(anna, line, at: tale.day(41), .active, renews: true, .premiumMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(43), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "promotion-to-downgrade",
            teaches: "An offer may change the plan from the next renewal on."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumMonthly, at: tale.day(0))
            anna.downgrade(line, to: .basicMonthly, offer: .promotion, announcedAs: "OFFER_REDEEMED", at: tale.day(12))
            tale.expect(anna, line, at: tale.day(13), .active, renews: true, .premiumMonthly, next: .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly, next: .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "offers-in-older-words",
            teaches:
                "Older notifications call a first purchase or a return with an offer OFFER_REDEEMED; the records say "
                + "the same."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, offer: .codeFreeMonth, announcedAs: "OFFER_REDEEMED", at: tale.day(0))
            tale.expect(anna, line, at: tale.day(1), .active, renews: true, .basicMonthly)
            anna.switchAutoRenew(line, on: false, at: tale.day(20))
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(35), .expired, renews: false, .basicMonthly)
            anna.resubscribe(line, offer: .promotion, announcedAs: "OFFER_REDEEMED", at: tale.day(40))
            tale.expect(anna, line, at: tale.day(41), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "won-back",
            teaches: "The end may name offers that would win the customer back, and the return may take one."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumMonthly, at: tale.day(0))
            anna.switchAutoRenew(line, on: false, at: tale.day(8))
            anna.expire(line, winBackOffers: [.winBack])
            tale.expect(anna, line, at: tale.day(31), .expired, renews: false, .premiumMonthly)
            anna.resubscribe(line, offer: .winBack, at: tale.day(50))
            tale.expect(anna, line, at: tale.day(51), .active, renews: true, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(105), .active, renews: true, .premiumMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(111), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
    ]
}
