/// What customers do where every verb of the store is wanted (``Habits/hasEveryVerb``): one thing a period, so that none undoes another.
extension SimulatedLife {
    var hasEveryVerb: Bool { habits?.hasEveryVerb == true }

    /// Plans one of all that can happen to a period.
    mutating func planVerb(of line: SubscriptionLine.Reference, _ moment: (Int64) -> Milliseconds) {
        let state = subscriber[line]
        let end = state.expiresDate
        let (early, late) = (moment(within(10...45)), moment(within(50...75)))
        let isShared = state.ownership == .familyShared
        planSmallThings(from: moment(0), to: moment(80))
        switch within(0...99) {
        case 0..<8: schedule(.switchOff, line, at: early)
        case 8..<13:
            schedule(.switchOff, line, at: early)
            schedule(.switchOn, line, at: late)
        case 13..<35: planFailure(of: line, endingAt: end)
        case 35..<43: schedule(state.product.level > 1 ? .upgrade : .downgrade, line, at: early)
        case 43..<47:
            schedule(.downgrade, line, at: early)
            schedule(.undoDowngrade, line, at: late)
        case 47..<50: schedule(.takeOffer, line, at: early)
        case 50..<54: schedule(.announcePrice, line, at: early)
        case 54..<58: schedule(.extend, line, at: early)
        case 58..<66 where !isShared:
            schedule(.askRefund(ofOldPeriod: false), line, at: early)
            schedule(random.chance(70) ? .refund : .declineRefund, line, at: late)
        case 66..<70 where !isShared && state.transactions.count > 1:
            schedule(.askRefund(ofOldPeriod: true), line, at: early)
            schedule(random.chance(70) ? .refund : .declineRefund, line, at: late)
        case 70..<73:
            schedule(.restore, line, at: early)
            schedule(.switchOff, line, at: late)
        case 73..<75: schedule(.restore, line, at: early)
        case 75..<77: schedule(.callUnknown, line, at: early)
        case 77..<79: schedule(.changeCommerce, line, at: early)
        case 79..<82:
            schedule(
                .expire(random.chance(50) ? .productUnavailable : .other), line, at: end + .seconds(5), isExact: true)
        default: break
        }
    }

    /// A charge that fails: paid in grace, in the retries, bought anew meanwhile, or never.
    private mutating func planFailure(of line: SubscriptionLine.Reference, endingAt end: Milliseconds) {
        failing.insert(line)
        switch within(0...9) {
        case 0..<4: schedule(.recover, line, at: end + paced(.days(within(1...5))))
        case 4..<6: schedule(.recover, line, at: end + paced(.days(within(17...55))))
        case 6: schedule(.resubscribe, line, at: end + paced(.days(within(18...50))))
        case 7: schedule(.subscribe, nil, at: end + paced(.days(within(18...50))))
        default: break
        }
    }

    /// What happens between the charge for a renewal and its beginning: another plan, which makes the renewal void, or the end
    /// of all renewals.
    mutating func planBeforeRenewal(of line: SubscriptionLine.Reference, from now: Milliseconds) {
        let start = subscriber[line].purchaseDate
        guard start > now else { return }
        let instant = now + (start - now) * within(30...70) / 100
        switch within(0...99) {
        case 0..<14 where subscriber[line].product.level > 1: schedule(.upgrade, line, at: instant, isExact: true)
        case 14..<18: schedule(.switchOff, line, at: instant, isExact: true)
        default: break
        }
    }

    /// The customer agrees to a price that needs it, or does not, and the subscription ends.
    mutating func answerPrice(of line: SubscriptionLine.Reference, from now: Milliseconds) {
        guard subscriber[line].renewal.priceIncreaseStatus == 0 else { return }
        if random.chance(60) {
            schedule(.acceptPrice, line, at: now + paced(.days(1)))
        } else {
            schedule(.expire(.priceIncrease), line, at: subscriber[line].expiresDate + .seconds(5), isExact: true)
        }
    }

    mutating func changeCommerce(of line: SubscriptionLine.Reference, at now: Milliseconds) {
        let types = ["PRICE_CHANGE", "METADATA_UPDATE", "MIGRATION", "MIGRATE"]
        subscriber.changeCommerce(
            line, announcedAs: types[Int(within(0...3))],
            to: AdvancedCommerceRecord(
                requestReferenceId: random.uuid(), taxCode: "C003-00-2",
                items: [.init(sku: "part", displayName: "A part", description: "Of it", price: 1990)]), at: now)
    }

    /// How a charge fails.
    mutating func anyGrace() -> SimulatedSubscriber.Grace {
        guard subscriber.app.gracePeriod > 0 else { return .none }
        guard hasEveryVerb else { return .dated }
        return switch within(0...9) {
        case 0..<5: .dated
        case 5: .undated
        case 6: .nullDate
        default: .none
        }
    }

    /// Things on the side of a subscription.
    private mutating func planSmallThings(from start: Milliseconds, to end: Milliseconds) {
        let instant = start + (end - start) * within(5...95) / 100
        switch within(0...99) {
        case 0..<12: schedule(.purchaseOnce, nil, at: instant)
        case 12..<15: schedule(.subscribeElsewhere, nil, at: instant)
        case 15: schedule(.callTest, nil, at: instant)
        case 16: schedule(.callToken, nil, at: instant)
        case 17: schedule(.rescindConsent, nil, at: instant)
        default: break
        }
    }
}
