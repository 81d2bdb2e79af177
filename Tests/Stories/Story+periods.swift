@testable import Simulation

extension Story {
    /// Lives without trouble: paid periods, their ends, and coming back.
    static let periodStories: [Story] = [
        Story(
            "monthly-renews",
            teaches:
                "A renewal is charged hours before the period ends, so its purchase date lies in the future of its "
                + "signature."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(1), .active, renews: true, .basicMonthly, next: .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(30) - .minutes(30), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(30) + .minutes(30), .active, renews: true, .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(61), .active, renews: true, .basicMonthly)
            // Silence after the last paid day proves nothing but that no money is known of.
            tale.expect(anna, line, at: tale.day(91), .expired, renews: nil, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "renewed-late",
            teaches: "A renewal may be heard of after the period has ended; it still begins where the last one ended."
        ) { tale in
            var anna = tale.subscriber(.australia, token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(29), .active, renews: true, .basicMonthly)
            anna.renew(line, at: tale.day(30, hour: 2))
            tale.expect(anna, line, at: tale.day(30, hour: 3), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(59), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "weekly-for-two-months",
            teaches: "Many short periods make one line; the latest of them counts."
        ) { tale in
            var anna = tale.subscriber(.turkiye, token: tale.token())
            let line = anna.buy(.basicWeekly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(3), .active, renews: true, .basicWeekly)
            for _ in 1...8 { anna.renew(line) }
            tale.expect(anna, line, at: tale.day(60), .active, renews: true, .basicWeekly)
            anna.switchAutoRenew(line, on: false, at: tale.day(61))
            tale.expect(anna, line, at: tale.day(62), .cancelled, renews: false, .basicWeekly)
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(64), .expired, renews: false, .basicWeekly)
            tale.tell(&anna)
        },
        Story(
            "yearly-renews",
            teaches: "A year is paid in one period."
        ) { tale in
            var anna = tale.subscriber(.germany, token: tale.token())
            let line = anna.buy(.premiumYearly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(200), .active, renews: true, .premiumYearly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(366), .active, renews: true, .premiumYearly)
            tale.expect(anna, line, at: tale.day(729), .active, renews: true, .premiumYearly)
            tale.tell(&anna)
        },
        Story(
            "cancelled-and-ended",
            teaches: "Auto-renew off takes nothing away before the paid period ends."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(9), .active, renews: true, .premiumMonthly)
            anna.switchAutoRenew(line, on: false, at: tale.day(10))
            tale.expect(anna, line, at: tale.day(11), .cancelled, renews: false, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(30) - .minutes(1), .cancelled, renews: false, .premiumMonthly)
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(30) + .minutes(1), .expired, renews: false, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(100), .expired, renews: false, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "cancelled-and-stayed",
            teaches: "Auto-renew can be switched on again before the end, and nothing has happened."
        ) { tale in
            var anna = tale.subscriber(.japan, token: tale.token())
            let line = anna.buy(.premiumMonthly, at: tale.day(0))
            anna.switchAutoRenew(line, on: false, at: tale.day(10))
            tale.expect(anna, line, at: tale.day(15), .cancelled, renews: false, .premiumMonthly)
            anna.switchAutoRenew(line, on: true, at: tale.day(20))
            tale.expect(anna, line, at: tale.day(25), .active, renews: true, .premiumMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "switched-without-subtype",
            teaches:
                "Whether auto-renew is on is read from the renewal info, not from the subtype, which may be "
                + "missing."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.switchAutoRenew(line, on: false, subtyped: false, at: tale.day(4))
            tale.expect(anna, line, at: tale.day(5), .cancelled, renews: false, .basicMonthly)
            anna.switchAutoRenew(line, on: true, subtyped: false, at: tale.day(6))
            tale.expect(anna, line, at: tale.day(7), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "resubscribed-to-another-plan",
            teaches: "Coming back goes on with the same original transaction, perhaps with another product."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.switchAutoRenew(line, on: false, at: tale.day(3))
            tale.expect(anna, line, at: tale.day(29), .cancelled, renews: false, .basicMonthly)
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(40), .expired, renews: false, .basicMonthly)
            anna.resubscribe(line, to: .premiumMonthly, at: tale.day(45))
            tale.expect(anna, line, at: tale.day(46), .active, renews: true, .premiumMonthly, next: .premiumMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(76), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "resubscribed-after-half-a-year",
            teaches: "A lapse of sixty days and more starts a new series of periods, still on the same line."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.switchAutoRenew(line, on: false, at: tale.day(28))
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(120), .expired, renews: false, .basicMonthly)
            anna.resubscribe(line, at: tale.day(210))
            tale.expect(anna, line, at: tale.day(211), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(239), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "heard-of-in-mid-life",
            teaches:
                "The first that is known of a subscription may be an early renewal: a renewal about to begin means "
                + "access now."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumMonthly, at: tale.day(0))
            // What came before was not sent.
            _ = anna.takeNotifications()
            anna.renew(line, at: tale.day(29, hour: 4))
            tale.expect(anna, line, at: tale.day(29, hour: 5), .active, renews: true, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .premiumMonthly)
            anna.switchAutoRenew(line, on: false, at: tale.day(40))
            tale.expect(anna, line, at: tale.day(41), .cancelled, renews: false, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "extended",
            teaches: "An extension moves the end of the present period."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(19), .active, renews: true, .basicMonthly)
            anna.extend(line, by: .days(14), at: tale.day(20))
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(43), .active, renews: true, .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(73), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "extended-while-cancelled",
            teaches: "An extension gives days to a customer who is leaving, too."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.switchAutoRenew(line, on: false, at: tale.day(5))
            anna.extend(line, by: .days(10), at: tale.day(20))
            tale.expect(anna, line, at: tale.day(35), .cancelled, renews: false, .basicMonthly)
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(41), .expired, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "mass-extension",
            teaches:
                "The summary of a mass extension is about a product and about no subscription; a failure changes "
                + "nothing."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            let request = tale.token()
            anna.massExtensionFailure(line, at: tale.day(10))
            anna.massExtensionSummary(
                of: .basicMonthly, request: request, succeeded: 41_234, failed: 17, at: tale.day(11))
            tale.expect(anna, line, at: tale.day(12), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(31), .expired, renews: nil, .basicMonthly)
            tale.tell(&anna)
        },
    ]
}
