extension SimulatedAppStore {
    /// Customers who live by themselves come in over a week, those who are not there yet.
    func open() {
        for number in 0..<configuration.customers where customers["resident-\(number + 1)"] == nil {
            let id = customer("resident-\(number + 1)", .sandbox, isLively: true)
            let wait = Int64(draw(id) % UInt64(max(1, Catalogue.days(7) / speed.pace)))
            customers[id]?.mean(.buy, nil, at: now + (number == 0 ? 0 : wait))
        }
    }

    /// Lets everything happen that is due by now.
    ///
    /// Of a pause of more than two years of its life, as of a shop that was closed overnight at a high speed, nobody is told
    /// period by period: those who live by themselves let everything run out, and come back.
    func live() {
        let instant = now
        let pause = lived.map { instant - $0 } ?? 0
        lived = instant
        let isLong = pause > Catalogue.days(730) / speed.pace
        // Many customers are looked through only when there is something to see.
        if isLong || soonest.version != customers.version || soonest.instant <= instant {
            live(until: instant, afterLongPause: isLong)
            soonest = (customers.values.compactMap { Self.next($0)?.instant }.min() ?? .max, customers.version)
        }
        workOnMassExtensions()
    }

    private func live(until instant: Milliseconds, afterLongPause isLong: Bool) {
        for id in customers.keys.sorted() {
            if isLong { lapse(id, at: instant) }
            // A period may be over before the one before it was noticed: all of them happen, one after the other.
            for _ in 0..<64 {
                guard let customer = customers[id], let step = Self.next(customer), step.instant <= instant else {
                    break
                }
                act(id) { customer in
                    if let line = step.line {
                        // What waited for a payment happens when it comes.
                        customer.happen(
                            line,
                            at: step.instant == 0 ? instant : max(step.instant, customer.subscriber[line].purchaseDate))
                    }
                }
                if let line = step.line {
                    plan(id, line, at: step.instant == 0 ? instant : step.instant)
                } else {
                    followWhim(id)
                }
            }
        }
    }

    private func lapse(_ id: String, at instant: Milliseconds) {
        guard let customer = customers[id], customer.isLively else { return }
        customers[id]?.whims = []
        for line in customer.subscriber.allLines {
            let original = customer.subscriber[line].originalTransactionId
            act(id) { customer in
                let state = customer.subscriber[line]
                let end = state.expiresDate
                switch state.phase {
                case .active:
                    if state.renewal.autoRenewStatus == 1 {
                        customer.subscriber.switchAutoRenew(line, on: false, at: min(end, instant))
                    }
                    if end < instant { customer.subscriber.expire(line, .voluntary, at: end) }
                case .gracePeriod, .billingRetry: customer.subscriber.expire(line, .billing, at: min(end, instant))
                case .expired, .revoked: break
                }
            }
            customers[id]?.failing.remove(original)
        }
        let original = customer.subscriber.allLines.last.map { customer.subscriber[$0].originalTransactionId }
        let wait = Int64(draw(id) % UInt64(max(1, Catalogue.days(7) / speed.pace)))
        customers[id]?.mean(.buy, original, at: instant + wait)
    }

    private static func next(
        _ customer: Customer
    ) -> (instant: Milliseconds, line: SubscriptionLine.Reference?)? {
        var next: (Milliseconds, SubscriptionLine.Reference?)?
        for line in customer.subscriber.allLines {
            guard let due = customer.due(line), due < next?.0 ?? .max else { continue }
            next = (due, line)
        }
        if let whim = customer.whims.first, whim.instant < next?.0 ?? .max { next = (whim.instant, nil) }
        return next
    }

    /// A customer's own chance: what he does depends neither on the others nor on when somebody looks.
    private func draw(_ id: String) -> UInt64 { customers[id]?.random.next() ?? 0 }

    private func chance(_ id: String, _ percent: Double) -> Bool { Double(draw(id) % 10_000) < percent * 100 }

    /// What a lively customer means to do in a period that has begun, or after the last one, at the instant of that.
    private func plan(_ id: String, _ line: SubscriptionLine.Reference, at instant: Milliseconds) {
        func chance(_ percent: Double) -> Bool { self.chance(id, percent) }
        guard let customer = customers[id], customer.isLively else { return }
        let state = customer.subscriber[line]
        let original = state.originalTransactionId
        let length = max(1, state.expiresDate - state.purchaseDate)
        func moment(_ percent: UInt64) -> Milliseconds {
            max(instant, state.purchaseDate) + length / 100 * Int64(percent)
        }
        let early = moment(10 + draw(id) % 40)
        let late = moment(55 + draw(id) % 25)
        switch state.phase {
        case .active:
            if chance(configuration.failurePercent) {
                customers[id]?.failing.insert(original)
                // Most pay in the end.
                if chance(70) { customers[id]?.mean(.payAgain, original, at: state.expiresDate + length / 3) }
            }
            if chance(6) {
                customers[id]?.mean(.switchOff, original, at: early)
                if chance(40) { customers[id]?.mean(.switchOn, original, at: late) }
            }
            if chance(configuration.refundPercent) {
                customers[id]?.mean(.askRefund, original, at: early)
                let outcome = chance(60) ? Customer.Whim.getRefund : .getNoRefund
                customers[id]?.mean(outcome, original, at: late)
            }
            if chance(10) { customers[id]?.mean(.buyOnce, nil, at: late) }
        case .expired, .revoked:
            customers[id]?.failing.remove(original)
            customers[id]?.mean(.buy, original, at: instant + length / 2)
        case .gracePeriod, .billingRetry: break
        }
    }

    private func followWhim(_ id: String) {
        guard let whim = customers[id]?.whims.first else { return }
        let instant = whim.instant
        let plan = Catalogue.plans[Int(draw(id) % UInt64(Catalogue.plans.count))]
        let isTrial = chance(id, 40)
        let speed = speed
        let bought: SubscriptionLine.Reference? =
            act(id) { customer -> SubscriptionLine.Reference? in
                customer.whims.removeFirst()
                let line = whim.line.flatMap { customer.line($0) }
                switch whim.whim {
                case .buy:
                    guard let product = Catalogue.product(plan.id, speed) else { return nil }
                    if let line {
                        guard [.expired, .revoked].contains(customer.subscriber[line].phase) else { return nil }
                        customer.subscriber.resubscribe(line, to: product, at: instant)
                        return line
                    }
                    return customer.subscriber.buy(product, offer: isTrial ? .freeWeek : nil, at: instant)
                case .buyOnce: customer.subscriber.charge(.coins, at: instant)
                case .payAgain:
                    // At that moment, which may be long ago: not when somebody looks.
                    guard let line, customer.failing.remove(whim.line ?? "") != nil,
                        [.gracePeriod, .billingRetry].contains(customer.subscriber[line].phase)
                    else { return nil }
                    customer.happen(line, at: instant)
                    return line
                case .switchOff, .switchOn:
                    guard let line, customer.subscriber[line].phase == .active else { return nil }
                    customer.subscriber.switchAutoRenew(line, on: whim.whim == .switchOn, at: instant)
                case .askRefund:
                    guard let line, customer.subscriber[line].phase == .active else { return nil }
                    customer.subscriber.requestRefund(of: customer.subscriber.latest(of: line), at: instant)
                case .getRefund:
                    guard let line, customer.subscriber[line].phase == .active else { return nil }
                    customer.subscriber.refund(customer.subscriber.latest(of: line), at: instant)
                case .getNoRefund:
                    guard let line, customer.subscriber[line].phase == .active else { return nil }
                    customer.subscriber.declineRefund(of: customer.subscriber.latest(of: line), at: instant)
                }
                return nil
            } ?? nil
        if let bought {
            self.plan(id, bought, at: instant)
        } else if whim.whim == .getRefund, let original = whim.line, let line = customers[id]?.line(original) {
            self.plan(id, line, at: instant)
        }
    }

    /// Extends everybody who can be, and says so: RENEWAL_EXTENDED for each, RENEWAL_EXTENSION at the end.
    private func workOnMassExtensions() {
        for index in massExtensions.indices where massExtensions[index].done == nil {
            let work = massExtensions[index]
            for id in customers.keys.sorted() where place(of: id) == work.place {
                guard let customer = customers[id] else { continue }
                if !work.countries.isEmpty, !work.countries.contains(customer.subscriber.storefront.code) { continue }
                for line in customer.subscriber.allLines where customer.subscriber[line].product.id == work.product {
                    let state = customer.subscriber[line]
                    guard state.phase == .active else { continue }
                    let isExtended = canExtend(state.originalTransactionId)
                    let instant = now
                    act(id) { customer in
                        if isExtended {
                            customer.subscriber.extend(line, by: Catalogue.days(work.days), at: instant)
                        } else {
                            customer.subscriber.massExtensionFailure(line, at: instant)
                        }
                    }
                    if isExtended {
                        noteExtension(state.originalTransactionId)
                        massExtensions[index].succeeded += 1
                    } else {
                        massExtensions[index].failed += 1
                    }
                }
            }
            massExtensions[index].done = now
            guard let product = Catalogue.product(work.product, speed), var house = houses[work.place] else { continue }
            house.massExtensionSummary(
                of: product, request: work.request, succeeded: massExtensions[index].succeeded,
                failed: massExtensions[index].failed, at: now)
            for notification in house.takeNotifications() { list(notification, work.place) }
            houses[work.place] = house
        }
    }

    /// Apple extends a subscription twice in 365 days.
    func canExtend(_ originalTransactionId: String) -> Bool {
        let year = Catalogue.days(365) / speed.pace
        return (extensionDates[originalTransactionId] ?? []).filter { $0 > now - year }.count < 2
    }

    func noteExtension(_ originalTransactionId: String) {
        extensionDates[originalTransactionId] = (extensionDates[originalTransactionId] ?? []) + [now]
    }
}
