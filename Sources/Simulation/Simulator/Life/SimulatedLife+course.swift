/// What comes by itself to the subscriptions of a life that is not staged, between the whims on its agenda.
extension SimulatedLife {
    /// When something happens next, and the subscription if it happens by itself; nil where nothing is to come.
    private var next: (instant: Milliseconds, line: SubscriptionLine.Reference?)? {
        var next: (Milliseconds, SubscriptionLine.Reference?)?
        for line in subscriber.allLines {
            guard let due = due(line), due < next?.0 ?? .max else { continue }
            next = (due, line)
        }
        if let appointment = agenda.last, appointment.instant < next?.0 ?? .max { next = (appointment.instant, nil) }
        return next
    }

    /// When something happens next; nil where nothing does.
    var nextInstant: Milliseconds? { next?.instant }

    /// Lets the next thing happen, if it is due by now.
    mutating func advance(to now: Milliseconds) {
        guard let next, next.instant <= now else { return }
        guard let line = next.line else {
            if let appointment = takeAppointment() { perform(appointment) }
            return
        }
        // What waited for a payment happens when that works again, and not at an instant of its own.
        let instant = next.instant == 0 ? now : max(next.instant, subscriber[line].purchaseDate)
        let isPaidAhead = happen(line, at: instant)
        switch subscriber[line].phase {
        case .active:
            planPeriod(of: line, from: instant)
            if isPaidAhead, hasEveryVerb { planBeforeRenewal(of: line, from: instant) }
        case .expired, .revoked:
            failing.remove(line)
            if habits != nil { planReturn(to: line, after: instant) }
        case .gracePeriod, .billingRetry: break
        }
    }

    /// Lets everything run out, each at its own end, and comes back soon.
    mutating func lapse(at now: Milliseconds) {
        guard habits != nil else { return }
        cancelPlans()
        failing = []
        for line in subscriber.allLines {
            let state = subscriber[line]
            let end = state.expiresDate
            switch state.phase {
            case .active:
                if state.renewal.autoRenewStatus == 1 { subscriber.switchAutoRenew(line, on: false, at: min(end, now)) }
                if end < now { subscriber.expire(line, .voluntary, at: end) }
            case .gracePeriod, .billingRetry: subscriber.expire(line, .billing, at: min(end, now))
            case .expired, .revoked: break
            }
        }
        let back = now + within(0...max(1, paced(.days(7))))
        if let line = subscriber.allLines.last {
            schedule(.resubscribe, line, at: back)
        } else {
            schedule(.subscribe, nil, at: back)
        }
    }

    /// When something happens to a subscription by itself: 0 for at once, nil for never.
    private func due(_ line: SubscriptionLine.Reference) -> Milliseconds? {
        let state = subscriber[line]
        let fails = failing.contains(line)
        switch state.phase {
        case .active:
            guard !isEnding(line) else { return nil }
            guard state.renewal.autoRenewStatus == 1 else { return state.expiresDate + 1000 }
            // Apple charges up to a day ahead, so that access has no gap: at any speed by some seconds, which signing the
            // notification takes.
            let hours: Int64 = hasEveryVerb && state.expiresDate / Milliseconds.days(1) % 2 == 0 ? 12 : 1
            let ahead = min(max(paced(.hours(hours)), 8000), (state.expiresDate - state.purchaseDate) / 3)
            // A charge fails two seconds after the end, or, of a period that is as short as that, soon after it.
            let late = min(2000, (state.expiresDate - state.purchaseDate) / 8)
            return fails ? state.expiresDate + late : state.expiresDate - ahead
        case .gracePeriod: return fails ? subscriber.graceEnd(of: line) : 0
        case .billingRetry: return fails ? state.expiresDate + paced(.days(60)) : 0
        case .expired, .revoked: return nil
        }
    }

    /// Does what is due of a subscription.
    /// - Returns: whether a renewal was charged before it begins.
    private mutating func happen(_ line: SubscriptionLine.Reference, at now: Milliseconds) -> Bool {
        let fails = failing.contains(line)
        switch subscriber[line].phase {
        case .active where subscriber[line].renewal.autoRenewStatus != 1: subscriber.expire(line, .voluntary, at: now)
        case .active where fails:
            subscriber.failToRenew(line, grace: anyGrace(), at: now)
        case .active:
            subscriber.renew(line, at: now)
            return true
        case .gracePeriod where fails: subscriber.graceExpires(line, at: now)
        case .billingRetry where fails: subscriber.expire(line, .billing, at: now)
        case .gracePeriod, .billingRetry: subscriber.recover(line, at: now)
        case .expired, .revoked: break
        }
        return false
    }
}
