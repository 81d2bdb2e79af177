extension SimulatedAppStore {
    /// Adds the simulated customers that do not exist yet; their lives begin spread over a week.
    func open() {
        for number in 0..<configuration.customers where customers["resident-\(number + 1)"] == nil {
            let id = customer("resident-\(number + 1)", .sandbox, isLively: true)
            let now = now
            change(id) { customer in
                let wait = customer.life.within(0...max(1, customer.life.paced(.days(7))))
                customer.life.begin(at: now + (number == 0 ? 0 : wait))
            }
        }
    }

    /// What the simulated customers do, at a speed.
    func habits(_ speed: StandInConfiguration.Speed) -> SimulatedLife.Habits {
        SimulatedLife.Habits(
            isStaged: false, plans: Catalogue.plans.compactMap { Catalogue.product($0.id, speed) },
            trial: Catalogue.offer("trial", speed) ?? .freeWeek,
            failurePercent: configuration.failurePercent, refundPercent: configuration.refundPercent,
            hasEveryVerb: configuration.hasEveryVerb, step: configuration.step)
    }

    /// Performs everything that is due by now.
    func live() {
        liveByThemselves()
        workOnMassExtensions()
    }

    /// Performs what is due of the customers.
    ///
    /// After a pause of more than two years of its life (a shop closed overnight at a high speed), the periods in
    /// between are not announced one by one: the simulated customers let everything run out, and come back.
    func liveByThemselves() {
        let instant = now
        let pause = lived.map { instant - $0 } ?? 0
        lived = instant
        let isLong = pause > Milliseconds.days(730) / speed.pace
        // Many customers are looked through only when there is something to see.
        if isLong || soonest.version != customers.version || soonest.instant <= instant {
            live(until: instant, afterLongPause: isLong)
            soonest = (customers.values.compactMap(\.life.nextInstant).min() ?? .max, customers.version)
        }
    }

    private func live(until instant: Milliseconds, afterLongPause isLong: Bool) {
        for id in customers.keys.sorted() {
            if isLong { change(id) { $0.life.lapse(at: instant) } }
            catchUp(id, until: instant)
        }
    }

    /// A period may be over before the one before it was noticed: all of them happen, one after the other.
    func catchUp(_ id: String, until instant: Milliseconds) {
        for _ in 0..<64 {
            guard let next = customers[id]?.life.nextInstant, next <= instant else { break }
            change(id) { $0.life.advance(to: instant) }
        }
    }

    /// Extends every subscription that can be: RENEWAL_EXTENDED for each, RENEWAL_EXTENSION at the end.
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
                    act(id) { customer, instant in
                        if isExtended {
                            customer.subscriber.extend(line, by: Milliseconds.days(work.days), at: instant)
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
        let year = Milliseconds.days(365) / speed.pace
        return (extensionDates[originalTransactionId] ?? []).filter { $0 > now - year }.count < 2
    }

    func noteExtension(_ originalTransactionId: String) {
        extensionDates[originalTransactionId] = (extensionDates[originalTransactionId] ?? []) + [now]
    }
}
