@testable import Simulation

extension Story {
    /// Notifications that are about no purchase, or whose type no release knows yet.
    static let noticeStories: [Story] = [
        Story(
            "test",
            teaches: "A test has no transaction and leaves no state."
        ) { tale in
            var anna = tale.subscriber()
            anna.test(at: tale.day(0))
            tale.expectNothing(anna, at: tale.day(1))
            tale.tell(&anna)
        },
        Story(
            "external-purchase-token",
            teaches:
                "A token for purchases outside the App Store is about no subscription, and names its environment by "
                + "a prefix."
        ) { tale in
            var anna = tale.subscriber()
            let token = tale.token()
            anna.externalPurchaseToken(.created, token: token, createdAt: tale.day(0), at: tale.day(0))
            anna.externalPurchaseToken(.activeTokenReminder, token: token, createdAt: tale.day(0), at: tale.day(30))
            anna.externalPurchaseToken(.unreported, token: token, createdAt: tale.day(0), at: tale.day(45))
            tale.expectNothing(anna, at: tale.day(46))
            tale.tell(&anna)
        },
        Story(
            "consent-rescinded",
            teaches: "Consent taken back is about the app, and about no subscription."
        ) { tale in
            var anna = tale.subscriber()
            anna.rescindConsent(firstDownloadAt: tale.day(-200), at: tale.day(0))
            tale.expectNothing(anna, at: tale.day(1))
            tale.tell(&anna)
        },
        Story(
            "unknown-type",
            teaches: "A type that nobody knows is kept and parked, and disturbs nothing."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.announce("SUBSCRIPTION_PAUSED", "BY_CUSTOMER", line, at: tale.day(5))
            tale.expect(anna, line, at: tale.day(6), .active, renews: true, .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "unknown-type-with-news",
            teaches:
                "The signed parts of a parked notification are facts all the same: state comes from them, never from "
                + "the type."
        ) { tale in
            // Doubt: "parked, no effect" and "its signed parts are facts" pull in two directions; facts win here.
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(4), .active, renews: true, .basicMonthly)
            anna.announce("RENEWAL_MOOD_CHANGED", nil, line, autoRenew: false, at: tale.day(5))
            tale.expect(anna, line, at: tale.day(6), .cancelled, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
    ]
}
