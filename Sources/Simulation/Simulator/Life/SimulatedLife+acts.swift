extension SimulatedLife {
    /// Carries out an appointment and plans what follows from it.
    mutating func perform(_ appointment: Appointment) {
        let now = appointment.instant
        guard let line = appointment.line else {
            performAlone(appointment.act, at: now)
            return
        }
        guard fits(appointment.act, line, at: now) else { return }
        switch appointment.act {
        case .resubscribe:
            failing.remove(line)
            let product = random.chance(30) ? anyPlan() : nil
            subscriber.resubscribe(line, to: product, offer: random.chance(25) ? .winBack : nil, at: now)
            planPeriod(of: line, from: now)
        case .renew:
            subscriber.renew(line, at: now)
            // Only a staged life renews by plan, and its past is never queried.
            subscriber.forgetOldPeriods(of: line)
            planPeriod(of: line, from: now)
        case .recover:
            failing.remove(line)
            subscriber.recover(line, at: now)
            planPeriod(of: line, from: now)
        case .fail:
            fail(line, at: now)
        case .endGrace:
            subscriber.graceExpires(line, at: now)
            planRetry(of: line, from: now)
        case .expire(let end):
            subscriber.expire(line, end, winBackOffers: random.chance(20) ? [.winBack] : [], at: now)
            planReturn(to: line, after: now)
        case .switchOff: subscriber.switchAutoRenew(line, on: false, at: now)
        case .switchOn: subscriber.switchAutoRenew(line, on: true, at: now)
        case .upgrade:
            let product: SimulatedProduct = random.chance(50) ? .premiumMonthly : .premiumYearly
            subscriber.upgrade(line, to: product, at: now)
            cancelPlans(for: line)
            planPeriod(of: line, from: now)
        case .downgrade:
            // In the same rank only where everything happens: a plan of another length, at the next renewal all the same.
            let isSameRank = hasEveryVerb && subscriber[line].product.level == 1 && random.chance(30)
            let others: [SimulatedProduct] =
                isSameRank ? [.premiumMonthly, .premiumYearly] : [.basicMonthly, .basicYearly]
            subscriber.downgrade(line, to: others[random.chance(50) ? 0 : 1], at: now)
        case .undoDowngrade: subscriber.cancelDowngrade(line, at: now)
        case .takeOffer: subscriber.redeem(.promotion, line, at: now)
        case .announcePrice:
            let price = subscriber[line].product.dollarMilliunits + 1000
            subscriber.raisePrice(line, toDollarMilliunits: price, needsConsent: random.chance(60), at: now)
            if hasEveryVerb { answerPrice(of: line, from: now) }
        case .acceptPrice:
            if subscriber[line].renewal.priceIncreaseStatus == 0 { subscriber.acceptPrice(line, at: now) }
        case .extend:
            subscriber.extend(line, by: .days(within(3...30)), at: now)
            guard habits?.isStaged == true else { return }
            cancelPlans(for: line)
            planEnd(of: line, from: now)
        case .loseFamily:
            subscriber.revokeFamily(line, at: now)
            cancelPlans(for: line)
            schedule(.subscribe, nil, at: now + paced(.days(within(5...60))))
        case .restore: subscriber.restore(line)
        case .callUnknown: subscriber.announce("SUBSCRIPTION_PAUSED", "BY_CUSTOMER", line, at: now)
        case .changeCommerce: changeCommerce(of: line, at: now)
        default: dispute(appointment.act, line, at: now)
        }
    }

    /// Whether an act still fits its subscription, which a person may have changed since. In a staged life no person
    /// does.
    private func fits(
        _ act: LifeAct, _ line: SubscriptionLine.Reference, at now: Milliseconds
    ) -> Bool {
        guard habits?.isStaged != true else { return true }
        let phase = subscriber[line].phase
        let isRefunded = disputed.map { subscriber[$0].revocationDate != nil }
        return switch act {
        case .resubscribe: phase == .expired || phase == .revoked || (hasEveryVerb && phase == .billingRetry)
        case .recover: phase == .gracePeriod || phase == .billingRetry
        case .switchOff, .switchOn, .askRefund, .declineRefund, .loseFamily, .downgrade, .undoDowngrade, .takeOffer,
            .announcePrice, .acceptPrice, .extend, .changeCommerce:
            phase == .active
        case .upgrade: phase == .active && subscriber[line].product.level > 1
        // It may have been extended meanwhile.
        case .expire: phase == .active && now >= subscriber[line].expiresDate
        case .refund: phase == .active && isRefunded == false
        case .reverseRefund: isRefunded == true
        default: true
        }
    }

    /// What is not about a subscription.
    private mutating func performAlone(_ act: LifeAct, at now: Milliseconds) {
        switch act {
        case .purchaseOnce:
            if disputedPurchase == nil, habits?.isStaged == true { subscriber.forgetOldPurchases() }
            let product: SimulatedProduct = random.chance(85) ? .coins : random.chance(50) ? .lifetime : .seasonPass
            let item = subscriber.charge(product, quantity: product == .coins ? Int(within(1...3)) : 1, at: now)
            if disputedPurchase == nil && random.chance(8) {
                disputedPurchase = item
                schedule(.askRefundOfPurchase, nil, at: now + paced(.hours(within(2...70))))
            }
            // The first purchase of many is a small one.
            if !subscriber.hasSubscribed { schedule(.subscribe, nil, at: now + paced(.hours(within(2...200)))) }
        case .askRefundOfPurchase:
            if let disputedPurchase { subscriber.requestRefund(of: disputedPurchase, at: now) }
            schedule(.refundPurchase, nil, at: now + paced(.hours(within(12...60))))
        case .refundPurchase:
            let form: SimulatedSubscriber.RefundForm = random.chance(50) ? .plain : .full
            if let disputedPurchase, subscriber[disputedPurchase].revocationDate == nil {
                subscriber.refund(disputedPurchase, form: form, at: now)
                if hasEveryVerb, random.chance(40) {
                    return schedule(.reverseRefundOfPurchase, nil, at: now + paced(.days(within(1...9))))
                }
            }
            disputedPurchase = nil
        case .reverseRefundOfPurchase:
            if let disputedPurchase { subscriber.reverseRefund(of: disputedPurchase, at: now) }
            disputedPurchase = nil
        case .subscribeElsewhere:
            let line = subscriber.buy(.newsMonthly, at: now)
            planPeriod(of: line, from: now)
        case .callTest: subscriber.test(at: now)
        case .rescindConsent:
            subscriber.rescindConsent(firstDownloadAt: now - paced(.days(within(1...300))), at: now)
        case .callToken:
            subscriber.externalPurchaseToken(
                .allCases[Int(within(0...2))], token: random.uuid(), createdAt: now.wholeSeconds, at: now)
        default:
            let shared = random.chance(4)
            guard let plan = anyPlan() else { return }
            let line = subscriber.buy(
                plan, offer: shared ? nil : firstOffer(), ownership: shared ? .familyShared : .purchased, at: now)
            if shared { schedule(.loseFamily, line, at: subscriber[line].expiresDate - paced(.days(within(2...5)))) }
            planPeriod(of: line, from: now)
        }
    }

    /// A refund is asked for, given, declined or taken back.
    private mutating func dispute(_ act: LifeAct, _ line: SubscriptionLine.Reference, at now: Milliseconds) {
        switch act {
        case .askRefund(let old):
            let count = subscriber[line].transactions.count
            let item = old && count > 1 ? .period(line, count - 2) : subscriber.latest(of: line)
            disputed = item
            subscriber.requestRefund(of: item, at: now)
        case .declineRefund:
            if let disputed { subscriber.declineRefund(of: disputed, at: now) }
            disputed = nil
        case .refund:
            guard let disputed else { return }
            let form: SimulatedSubscriber.RefundForm = random.chance(70) ? .full : .prorated(within(10...90))
            subscriber.refund(disputed, form: hasEveryVerb && random.chance(20) ? .plain : form, at: now)
            guard disputed == subscriber.latest(of: line) else { return }
            cancelPlans(for: line)
            if random.chance(25) {
                schedule(.reverseRefund, line, at: now + paced(.hours(within(5...50))))
            } else {
                self.disputed = nil
                // Some buy again while the period that was paid back would still run.
                let end = hasEveryVerb && random.chance(40) ? now : max(subscriber[line].expiresDate, now)
                schedule(.resubscribe, line, at: end + paced(.days(within(1...40))))
            }
        case .reverseRefund:
            if let disputed { subscriber.reverseRefund(of: disputed, at: now) }
            disputed = nil
            let end = subscriber[line].expiresDate
            if end > now {
                if habits?.isStaged == true { schedule(.expire(.voluntary), line, at: end + .seconds(5)) }
            } else {
                planReturn(to: line, after: now)
            }
        default: break
        }
    }

    private mutating func fail(_ line: SubscriptionLine.Reference, at now: Milliseconds) {
        let grace: SimulatedSubscriber.Grace =
            switch within(0...9) {
            case 0...4: .dated
            case 5: .undated
            case 6: .nullDate
            default: .none
            }
        subscriber.failToRenew(line, grace: grace, at: now)
        guard grace != .none else {
            planRetry(of: line, from: now)
            return
        }
        let span = subscriber.gracePeriod(of: line)
        let end = subscriber[line].expiresDate + span
        if random.chance(60) {
            schedule(.recover, line, at: now + span * within(5...80) / 100)
        } else {
            schedule(.endGrace, line, at: end + .seconds(2))
        }
    }

    mutating func anyPlan() -> SimulatedProduct? { habits?.plans.randomElement(using: &random) }

    private mutating func firstOffer() -> SimulatedOffer? {
        switch within(0...9) {
        case 0...3: habits?.trial
        case 4: .quarterUpFront
        case 5: .codeFreeMonth
        default: nil
        }
    }
}
