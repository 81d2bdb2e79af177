extension SimulatedLife {
    /// Plans the first purchase: staged within hours, otherwise at once.
    mutating func begin(at birth: Milliseconds) {
        guard habits?.isStaged == true else { return schedule(.subscribe, nil, at: birth) }
        // Two of three draws are of a copy, and stay so: a seed gives the same load in every release, and figures are compared.
        var copy = random
        schedule(copy.chance(6) ? .purchaseOnce : .subscribe, nil, at: birth + paced(.minutes(within(1...300))))
        if copy.chance(2) { schedule(.callTest, nil, at: birth) }
    }

    /// Plans a period that has just begun: perhaps a whim or two, then its end.
    mutating func planPeriod(of line: SubscriptionLine.Reference, from now: Milliseconds) {
        guard let habits else { return }
        // An early renewal's period has not begun yet. Whims wait for that, and fall into its first four fifths: the next charge is tried
        // on the last day at the earliest.
        let start = max(now, subscriber[line].purchaseDate)
        let length = subscriber[line].expiresDate - start
        func moment(_ percent: Int64) -> Milliseconds { start + length * percent / 100 }
        guard habits.isStaged else {
            return hasEveryVerb ? planVerb(of: line, moment) : planWhims(of: line, habits, moment)
        }

        switch within(0...99) {
        case 0..<10:
            schedule(.switchOff, line, at: moment(within(5...40)))
            if random.chance(40) {
                schedule(.switchOn, line, at: moment(within(45...80)))
            } else {
                schedule(.expire(.voluntary), line, at: subscriber[line].expiresDate + .seconds(5))
                addSmallThings(from: start, length: length)
                return
            }
        case 10..<14:
            if subscriber[line].product.level > 1 {
                schedule(.upgrade, line, at: moment(within(10...80)))
                return
            }
            schedule(.downgrade, line, at: moment(within(10...40)))
            if random.chance(30) { schedule(.undoDowngrade, line, at: moment(within(50...80))) }
        case 14..<17: schedule(.takeOffer, line, at: moment(within(10...80)))
        case 17..<20:
            schedule(.announcePrice, line, at: moment(within(10...30)))
            schedule(.acceptPrice, line, at: moment(within(40...80)))
        case 20..<22:
            schedule(.extend, line, at: moment(within(10...80)))
            return
        case 22..<25:
            let old = random.chance(50) && subscriber[line].transactions.count > 1
            schedule(.askRefund(ofOldPeriod: old), line, at: moment(within(5...30)))
            schedule(random.chance(40) ? .declineRefund : .refund, line, at: moment(within(40...80)))
        case 25..<27:
            schedule(.restore, line, at: moment(within(5...30)))
            schedule(.switchOff, line, at: moment(within(35...50)))
            schedule(.switchOn, line, at: moment(within(55...80)))
        case 27: schedule(.callUnknown, line, at: moment(within(5...80)))
        default: break
        }
        addSmallThings(from: start, length: length)
        planEnd(of: line, from: now)
    }

    /// Plans the whims of a period whose end comes by itself.
    private mutating func planWhims(
        of line: SubscriptionLine.Reference, _ habits: Habits, _ moment: (Int64) -> Milliseconds
    ) {
        if random.chance(percent: habits.failurePercent) {
            failing.insert(line)
            // Most pay in the end.
            if random.chance(70) { schedule(.recover, line, at: moment(133)) }
        }
        if random.chance(6) {
            schedule(.switchOff, line, at: moment(within(10...49)))
            if random.chance(40) { schedule(.switchOn, line, at: moment(within(55...79))) }
        }
        if random.chance(percent: habits.refundPercent) {
            schedule(.askRefund(ofOldPeriod: false), line, at: moment(within(10...49)))
            schedule(random.chance(60) ? .refund : .declineRefund, line, at: moment(within(55...79)))
        }
        if random.chance(10) { schedule(.purchaseOnce, nil, at: moment(within(55...79))) }
    }

    /// Plans how the present period ends: mostly with an early renewal.
    mutating func planEnd(of line: SubscriptionLine.Reference, from now: Milliseconds) {
        let end = subscriber[line].expiresDate
        switch within(0...99) {
        case 0..<9: schedule(.fail, line, at: end + .seconds(2))
        case 9: schedule(.expire(.productUnavailable), line, at: end + .seconds(5))
        case 10: schedule(.expire(.other), line, at: end + .seconds(5))
        default:
            // Up to twenty hours early, and never among the whims of a period that is short, or far gone already.
            let start = max(now, subscriber[line].purchaseDate)
            schedule(.renew, line, at: end - min(paced(.minutes(within(60...1200))), (end - start) / 6))
        }
    }

    /// Plans billing retry without access: two in five pay in the end.
    mutating func planRetry(of line: SubscriptionLine.Reference, from now: Milliseconds) {
        let end = subscriber[line].expiresDate + paced(.days(60))
        switch within(0...9) {
        case 0...3: schedule(.recover, line, at: now + (end - now) * within(5...95) / 100)
        case 4:
            // Buys anew meanwhile: a second line, while the first goes on being retried to its end.
            schedule(.subscribe, nil, at: now + (end - now) * within(5...50) / 100)
            schedule(.expire(.billing), line, at: end + .seconds(5))
        default: schedule(.expire(.billing), line, at: end + .seconds(5))
        }
    }

    /// Plans the return of a customer whose subscription has ended.
    mutating func planReturn(to line: SubscriptionLine.Reference, after now: Milliseconds) {
        // A subscriber with a later line lives on there.
        guard subscriber.isLatestLine(line) else { return }
        schedule(.resubscribe, line, at: now + paced(.days(random.chance(80) ? within(1...40) : within(60...150))))
    }

    /// Things on the side of a subscription.
    private mutating func addSmallThings(from start: Milliseconds, length: Milliseconds) {
        if random.chance(18) { schedule(.purchaseOnce, nil, at: start + length * within(5...80) / 100) }
        if random.chance(1) { schedule(.callToken, nil, at: start + length * within(5...80) / 100) }
    }
}
