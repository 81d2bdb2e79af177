@testable import Simulation

extension Story {
    /// Lives in which money goes back.
    static let refundStories: [Story] = [
        Story(
            "old-period-refunded",
            teaches:
                "A refund of an old period leaves today's paid period alone: it is about a transaction, not about "
                + "the line."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            let first = anna.latest(of: line)
            anna.renew(line)
            anna.requestRefund(of: first, at: tale.day(35))
            tale.expect(anna, line, at: tale.day(36), .active, renews: true, .basicMonthly)
            anna.refund(first, at: tale.day(37))
            tale.expect(anna, line, at: tale.day(38), .active, renews: true, .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(61), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "current-period-refunded",
            teaches: "A refund of the present period takes access away at once and for good."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.premiumYearly, at: tale.day(0))
            tale.expect(anna, line, at: tale.day(4), .active, renews: true, .premiumYearly)
            anna.requestRefund(of: anna.latest(of: line), reason: "UNSATISFIED_WITH_PURCHASE", at: tale.day(5))
            tale.expect(anna, line, at: tale.day(6), .active, renews: true, .premiumYearly)
            anna.refund(anna.latest(of: line), reason: 1, at: tale.day(7))
            tale.expect(anna, line, at: tale.day(8), .revoked, renews: false, .premiumYearly)
            tale.expect(anna, line, at: tale.day(366), .revoked, renews: false, .premiumYearly)
            tale.tell(&anna)
        },
        Story(
            "refunded-in-older-form",
            teaches: "Older refunds have a date and a reason and nothing else."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.renew(line)
            anna.refund(anna.latest(of: line), form: .plain, at: tale.day(40))
            tale.expect(anna, line, at: tale.day(41), .revoked, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "refund-declined",
            teaches: "A refund that is asked for and declined changes nothing, and can be asked for again."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.requestRefund(of: anna.latest(of: line), at: tale.day(3))
            anna.requestRefund(of: anna.latest(of: line), at: tale.day(4))
            tale.expect(anna, line, at: tale.day(5), .active, renews: true, .basicMonthly)
            anna.declineRefund(of: anna.latest(of: line), at: tale.day(6))
            tale.expect(anna, line, at: tale.day(7), .active, renews: true, .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "refund-reversed",
            teaches: "A reversed refund is told by what is absent: the revocation fields are gone, and access is back."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.refund(anna.latest(of: line), at: tale.day(7))
            tale.expect(anna, line, at: tale.day(8), .revoked, renews: false, .basicMonthly)
            anna.reverseRefund(of: anna.latest(of: line), at: tale.day(12))
            // The refund had switched auto-renew off, and the customer has not switched it on again.
            tale.expect(anna, line, at: tale.day(13), .cancelled, renews: false, .basicMonthly)
            anna.expire(line)
            tale.expect(anna, line, at: tale.day(31), .expired, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "refund-reversed-too-late",
            teaches:
                "A refund reversed after the period's end gives no access back, but what was revoked has merely "
                + "expired."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.refund(anna.latest(of: line), at: tale.day(25))
            tale.expect(anna, line, at: tale.day(31), .revoked, renews: false, .basicMonthly)
            anna.reverseRefund(of: anna.latest(of: line), at: tale.day(45))
            tale.expect(anna, line, at: tale.day(46), .expired, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "old-refund-reversed",
            teaches: "A refund of an old period can come and go without touching the present one."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            let first = anna.latest(of: line)
            anna.renew(line)
            anna.refund(first, at: tale.day(40))
            tale.expect(anna, line, at: tale.day(41), .active, renews: true, .basicMonthly)
            anna.reverseRefund(of: first, at: tale.day(45))
            tale.expect(anna, line, at: tale.day(46), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "refunded-on-the-eve",
            teaches:
                "A refund of the running period leaves access where the next one is paid already and begins within a "
                + "day."
        ) { tale in
            // Doubt: the running period is revoked, but it is not the latest one, and the renewal known begins within hours.
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            let running = anna.latest(of: line)
            anna.renew(line, at: tale.day(29, hour: 8))
            tale.expect(anna, line, at: tale.day(29, hour: 9), .active, renews: true, .basicMonthly)
            anna.refund(running, at: tale.day(29, hour: 12))
            tale.expect(anna, line, at: tale.day(29, hour: 13), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "refunded-and-bought-again",
            teaches:
                "A line whose latest period was refunded lives again with the next purchase, even before the old "
                + "end."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.refund(anna.latest(of: line), form: .prorated(60), at: tale.day(7))
            tale.expect(anna, line, at: tale.day(8), .revoked, renews: false, .basicMonthly)
            anna.resubscribe(line, at: tale.day(15))
            tale.expect(anna, line, at: tale.day(16), .active, renews: true, .basicMonthly)
            tale.expect(anna, line, at: tale.day(44), .active, renews: true, .basicMonthly)
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(46), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "refunded-after-upgrade",
            teaches: "A refund of what an upgrade had replaced already takes nothing more away."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            let replaced = anna.latest(of: line)
            anna.upgrade(line, to: .premiumMonthly, at: tale.day(10))
            anna.refund(replaced, form: .prorated(66), at: tale.day(11))
            tale.expect(anna, line, at: tale.day(12), .active, renews: true, .premiumMonthly)
            tale.expect(anna, line, at: tale.day(39), .active, renews: true, .premiumMonthly)
            tale.tell(&anna)
        },
        Story(
            "restored-period",
            teaches:
                "A restore repeats a paid period under a new transaction identifier; the order's identifier says it "
                + "is the same."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            anna.restore(line)
            anna.switchAutoRenew(line, on: false, at: tale.day(3))
            tale.expect(anna, line, at: tale.day(4), .cancelled, renews: false, .basicMonthly)
            anna.switchAutoRenew(line, on: true, at: tale.day(5))
            anna.renew(line)
            tale.expect(anna, line, at: tale.day(31), .active, renews: true, .basicMonthly)
            tale.tell(&anna)
        },
        Story(
            "restored-period-refunded",
            teaches:
                "A refund may name the first of two transactions of one period; the other one no longer gives access "
                + "either."
        ) { tale in
            var anna = tale.subscriber(token: tale.token())
            let line = anna.buy(.basicMonthly, at: tale.day(0))
            let bought = anna.latest(of: line)
            anna.restore(line)
            anna.switchAutoRenew(line, on: false, at: tale.day(3))
            tale.expect(anna, line, at: tale.day(4), .cancelled, renews: false, .basicMonthly)
            anna.refund(bought, at: tale.day(7))
            tale.expect(anna, line, at: tale.day(8), .revoked, renews: false, .basicMonthly)
            tale.expect(anna, line, at: tale.day(31), .revoked, renews: false, .basicMonthly)
            tale.tell(&anna)
        },
    ]
}
