@testable import Simulation

extension Story {
    /// Lives that become dearer.
    static let priceStories: [Story] = [
        Story(
            "dearer-and-agreed",
            teaches:
                "A price increase that needs consent is pending until the customer answers; access does not wait for "
                + "it."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(4), .active, renews: true, .basicMonthly, pricePending: false)
            anna.raisePrice(line, toDollarMilliunits: 6990, needsConsent: true, at: tale.day(5))
            tale.expect(anna, line, at: tale.day(6), .active, renews: true, .basicMonthly, pricePending: true)
            anna.acceptPrice(line, at: tale.day(12))
            tale.expect(anna, line, at: tale.day(13), .active, renews: true, .basicMonthly, pricePending: false)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly, pricePending: false)
            tale.tell(&anna)
        },
        Story(
            "dearer-without-asking",
            teaches: "A price increase that needs no consent is told as accepted and is never pending."
        ) { tale in
            var anna = tale.subscriber(.germany, token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.raisePrice(line, toDollarMilliunits: 5490, needsConsent: false, at: tale.day(5))
            tale.expect(anna, line, at: tale.day(6), .active, renews: true, .basicMonthly, pricePending: false)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly, pricePending: false)
            tale.tell(&anna)
        },
        Story(
            "dearer-and-refused",
            teaches: "A price increase without an answer ends the subscription with its period."
        ) { tale in
            // Doubt: whether the question still counts as pending after the end is not documented; nothing is claimed then.
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumMonthly, at: tale.day(0))
            anna.raisePrice(line, toDollarMilliunits: 14_990, needsConsent: true, at: tale.day(5))
            tale.expect(anna, line, at: tale.day(29), .active, renews: true, .premiumMonthly, pricePending: true)
            anna.expire(line, .priceIncrease)
            tale.expect(anna, line, at: tale.day(31), .expired, renews: false, .premiumMonthly)
            tale.tell(&anna)
        },
    ]
}
