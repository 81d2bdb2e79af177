@testable import Simulation

extension Story {
    /// Lives in which a charge fails.
    static let billingStories: [Story] = [
        Story(
            "grace-and-recovered",
            teaches: "In grace the customer keeps access, and recovery continues the periods without a gap."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.failToRenew(line, grace: .dated)
            tale.expect(anna, line, at: tale.day(31), .gracePeriod, renews: true, .basicMonthly)
            anna.recover(line, at: tale.day(35))
            tale.expect(anna, line, at: tale.day(36), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(59), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(61), .expired, renews: nil, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "grace-expires-and-recovered",
            teaches:
                "After grace Apple goes on trying without access; a late recovery begins a period then, not "
                + "before."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.failToRenew(line, grace: .dated)
            tale.expect(anna, line, at: tale.day(45), .gracePeriod, renews: true, .basicMonthly)
            anna.graceExpires(line)
            tale.expect(anna, line, at: tale.day(47), .billingRetry, renews: nil, .basicMonthly)
            anna.recover(line, at: tale.day(55))
            tale.expect(anna, line, at: tale.day(56), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(84), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "grace-ends-unheard",
            teaches: "Grace ends by the clock even if the notification that says so is lost."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.failToRenew(line, grace: .dated)
            tale.expect(anna, line, at: tale.day(45), .gracePeriod, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(47), .billingRetry, renews: nil, .basicMonthly)
            // Nothing more is heard: after sixty days Apple has given up.
            tale.expect(anna, line, at: tale.day(91), .expired, renews: nil, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "grace-by-the-week",
            teaches:
                "The grace of a weekly period is shorter than the app's setting: the date in the renewal info "
                + "decides."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicWeekly, at: tale.day(0))
            anna.failToRenew(line, grace: .dated)
            tale.expect(anna, line, at: tale.day(12), .gracePeriod, renews: true, .basicWeekly)
            anna.graceExpires(line)
            tale.expect(anna, line, at: tale.day(14), .billingRetry, renews: nil, .basicWeekly)
            anna.recover(line, at: tale.day(20))
            tale.expect(anna, line, at: tale.day(21), .active, renews: true, .basicWeekly)
            tale.tell(&anna)
        },
        Story(
            "grace-without-date",
            teaches:
                "Apple's status may say grace while the renewal info has no date for it: access is granted all the "
                + "same."
        ) { tale in
            var anna = tale.subscriber(in: tale.app.in(.production), token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.failToRenew(line, grace: .undated)
            tale.expect(anna, line, at: tale.day(31), .gracePeriod, renews: true, .basicMonthly)
            anna.recover(line, at: tale.day(33))
            tale.expect(anna, line, at: tale.day(34), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "grace-with-null-date-expires",
            teaches:
                "A grace period whose date is null ends when Apple says so, at the latest when the configured length "
                + "is over."
        ) { tale in
            var anna = tale.subscriber(in: tale.app.in(.production), token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.failToRenew(line, grace: .nullDate)
            tale.expect(anna, line, at: tale.day(31), .gracePeriod, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(45), .gracePeriod, renews: true, .basicMonthly)
            anna.graceExpires(line)
            tale.expect(anna, line, at: tale.day(47), .billingRetry, renews: nil, .basicMonthly)
            anna.expire(line, .billing)
            tale.expect(anna, line, at: tale.day(91), .expired, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "retry-and-recovered",
            teaches: "Without grace a failed charge takes access away at once, and recovery gives it back from then on."
        ) { tale in
            var anna = tale.subscriber(.germany, token: tale.token())
            let line = anna.buy(.premiumMonthly, at: tale.day(0))
            anna.failToRenew(line)
            tale.expect(anna, line, at: tale.day(31), .billingRetry, renews: nil, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(49), .billingRetry, renews: nil, .premiumMonthly)
            anna.recover(line, at: tale.day(50))
            tale.expect(anna, line, at: tale.day(51), .active, renews: true, .premiumMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(81), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "retry-for-sixty-days",
            teaches: "Apple tries for sixty days; then the subscription ends, and auto-renew with it."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumMonthly, at: tale.day(0))
            anna.failToRenew(line)
            tale.expect(anna, line, at: tale.day(31), .billingRetry, renews: nil, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(89), .billingRetry, renews: nil, .premiumMonthly)
            anna.expire(line, .billing)
            tale.expect(anna, line, at: tale.day(91), .expired, renews: false, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "retry-ends-unheard",
            teaches: "Sixty days after the end there are no more retries, whether or not the last notification arrives."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.failToRenew(line)
            tale.expect(anna, line, at: tale.day(89), .billingRetry, renews: nil, .basicMonthly)
            tale.expect(anna, line, at: tale.day(91), .expired, renews: nil, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "cancelled-in-retry",
            teaches: "Auto-renew switched off during retry ends the retries and the subscription."
        ) { tale in
            // Doubt: whether Apple's status in the first of the two notifications already says expired is not documented.
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.failToRenew(line)
            tale.expect(anna, line, at: tale.day(34), .billingRetry, renews: nil, .basicMonthly)
            anna.switchAutoRenew(line, on: false, at: tale.day(35))
            anna.expire(line, .voluntary, at: tale.day(35) + .minutes(1))
            tale.expect(anna, line, at: tale.day(36), .expired, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "resubscribed-in-retry",
            teaches:
                "A customer who pays by hand during retry goes on with the same line, and the failure is "
                + "forgotten."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.failToRenew(line, grace: .dated)
            anna.graceExpires(line)
            tale.expect(anna, line, at: tale.day(50), .billingRetry, renews: nil, .basicMonthly)
            anna.resubscribe(line, at: tale.day(52))
            tale.expect(anna, line, at: tale.day(53), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "bought-again-in-retry",
            teaches:
                "A second line can begin while the first is being retried; the first one's end takes nothing from "
                + "the second."
        ) { tale in
            let token = tale.token()
            var anna = tale.subscriber(token: token)
            let first = anna.buy(.basicMonthly, at: tale.day(0))
            anna.failToRenew(first)
            tale.expect(anna, first, at: tale.day(31), .billingRetry, renews: nil, .basicMonthly)
            tale.expect(anna, at: tale.day(31), access: false, .basicMonthly, account: .token(token))
            let second = anna.buy(.basicMonthly, at: tale.day(40))
            tale.expect(anna, first, at: tale.day(41), .billingRetry, renews: nil, .basicMonthly)
            tale.expect(anna, second, at: tale.day(41), .active, renews: true, .basicMonthly, account: .token(token))
            tale.expect(anna, at: tale.day(41), access: true, .basicMonthly, account: .token(token))
            anna.renew(second)
            anna.expire(first, .billing)
            tale.expect(anna, first, at: tale.day(91), .expired, renews: false, .basicMonthly)
            tale.expect(anna, second, at: tale.day(91), .active, renews: true, .basicMonthly)
            tale.expect(anna, at: tale.day(91), access: true, .basicMonthly, account: .token(token))
            tale.tell(&anna)
        },
        Story(
            "product-withdrawn",
            teaches: "A product that is no longer sold does not renew."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicWeekly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(6), .active, renews: true, .basicWeekly)
            anna.expire(line, .productUnavailable)
            tale.expect(anna, line, at: tale.day(8), .expired, renews: false, .basicWeekly)
            tale.tell(&anna)
        },
        Story(
            "ended-for-another-reason",
            teaches: "An end may have no subtype."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(29), .active, renews: true, .basicMonthly)
            anna.expire(line, .other)
            tale.expect(anna, line, at: tale.day(31), .expired, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "ended-without-intent",
            teaches: "The renewal info of an ended subscription may leave the intent out; it has ended all the same."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.switchAutoRenew(line, on: false, at: tale.day(2))
            tale.expect(anna, line, at: tale.day(29), .cancelled, renews: false, .basicMonthly)
            anna.expire(line, statingReason: false)
            tale.expect(anna, line, at: tale.day(31), .expired, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
    ]
}
