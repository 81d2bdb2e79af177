import AppStorePayloads
import Base
import Events
import Subscriptions

/// Looks over a listener's shoulder: whatever is told, in whatever order things were heard, some things must hold.
struct Judge {
    var listener = Listener()
    private(set) var faults: [String] = []

    init(leewaySeconds: Int64) { listener.policy.renewalLeewaySeconds = leewaySeconds }

    mutating func hear(_ heard: [Heard], at now: Timestamp) {
        let first = listener.events.count
        listener.hear(heard, at: now)
        check(from: first, at: now)
    }

    mutating func runClock(to now: Timestamp) {
        while let due = listener.nextDue, due <= now {
            let first = listener.events.count
            // That a trial ends which was told to be paid beyond is no news.
            let isSilent = listener.told?.isConverted == true
            // What was due while no listener ran is told late, and no sooner than what was told already.
            listener.tick(due)
            check(from: first, at: due)
            if listener.events.count == first, !isSilent { faults.append("nothing was due at \(due)") }
            if listener.nextDue == due { return faults.append("\(due) is due for ever") }
        }
        let first = listener.events.count
        listener.tick(now)
        check(from: first, at: now)
        if listener.events.count > first { faults.append("what was not due is told at \(now): \(story)") }
    }

    private mutating func check(from first: Int, at now: Timestamp) {
        let new = listener.events[first...]
        // Each event takes up where the one before it was, or belongs to the same step.
        for (place, event) in new.enumerated() where first + place > 0 {
            let before = listener.events[first + place - 1]
            if event.previous != before.value, !(event.previous == before.previous && event.value == before.value),
                !(event.previous.map { previous in before.value.map { previous.saysTheSame(as: $0) } ?? false } ?? false)
            {
                faults.append("\(event.words) at \(event.instant) does not follow \(before.words)")
            }
        }
        // Promise: the last event says what the status says.
        if var value = listener.state.subscription?.status(at: now) {
            // From a conversion on, what it is after the trial.
            if listener.told?.isConverted == true, value.inTrial {
                value.inTrial = false
                if value.status == .trial { value.status = .active }
            }
            if let said = listener.events.last?.value {
                if !said.saysTheSame(as: value) { faults.append("at \(now) told \(said), is \(value)") }
            } else {
                faults.append("at \(now) is \(value), and nothing was told")
            }
        }
        if new.contains(where: { $0.instant > now }) { faults.append("told ahead of its time at \(now)") }
    }

    private static let periods: Set<EventKind> = [
        .subscriptionStarted, .subscriptionTrialStarted, .subscriptionConverted, .subscriptionRenewed,
        .subscriptionRecovered, .subscriptionProductChanged,
    ]

    /// What must hold of a whole life, once all of it was told.
    /// - Parameter isWhole: whether all of it was heard in the end.
    func finalFaults(isWhole: Bool) -> [String] {
        var faults: [String] = []
        let standing = PaidPeriod.all(of: listener.facts)
        var times: [String: Int] = [:]
        var refunds: [String: Int] = [:]
        var lastShare: [String: Int64] = [:]
        for event in listener.events {
            guard let period = event.period else { continue }
            if Self.periods.contains(event.kind) { times[period.key, default: 0] += 1 }
            if event.kind == .subscriptionRefunded, !event.isCorrection { refunds[period.key, default: 0] += 1 }
            if event.kind == .subscriptionRefunded { lastShare[period.key] = period.revokedShare }
            if event.kind == .subscriptionRefundReversed { refunds[period.key, default: 0] -= 1 }
        }
        for period in standing {
            let count = times[period.key, default: 0]
            // One that was told before its record came is told without it.
            let isToldWithout = listener.events.contains {
                $0.period == nil && Self.periods.contains($0.kind) && $0.value?.basis == .renewalInfo
            }
            // What was charged ahead and never begins is told if that was heard before it was replaced.
            if period.replacedAt != nil {
                if count > 1 { faults.append("period \(period.key) told \(count) times") }
                continue
            }
            if count > 1 || count == 0 && !isToldWithout { faults.append("period \(period.key) told \(count) times") }
            let isRefunded = period.revokedAt != nil && !period.isFamilyShared
            if refunds[period.key, default: 0] != (isRefunded ? 1 : 0) {
                faults.append("refunds of \(period.key): \(refunds[period.key, default: 0]) stand")
            }
            if isRefunded, lastShare[period.key] != period.revokedShare { faults.append("share of \(period.key)") }
        }
        if !Set(times.keys).isSubset(of: standing.map(\.key)) { faults.append("periods of no record") }
        var seen: Set<String> = []
        for event in listener.events {
            // What was taken back may come to be after all.
            if event.isCorrection {
                seen.removeAll()
                continue
            }
            // A refund that was reversed may stand after all, once a reversal between two refunds is received.
            if event.kind == .subscriptionRefundReversed, let period = event.period {
                seen.subtract(
                    seen.filter { $0.hasPrefix("\(EventKind.subscriptionRefunded) ") && $0.hasSuffix(period.key) })
            }
            // One word of Apple's may move one end after the other, and is the date of both.
            let end = event.kind == .subscriptionExtended ? event.value?.accessUntil.description ?? "" : ""
            let name = "\(event.kind) \(event.instant) \(event.period?.key ?? "")\(end)"
            if !seen.insert(name).inserted { faults.append("told twice: \(name)") }
        }
        return faults.isEmpty ? [] : faults + [story]
    }

    /// All that was told, for who has to find out what went wrong.
    var story: String {
        listener.events.map { "\($0.instant) \($0.words) \($0.period?.transactionID ?? "")" }.joined(separator: " | ")
    }
}

extension StatusAtInstant {
    /// What a reader of events goes by, said a second time.
    fileprivate func saysTheSame(as other: StatusAtInstant) -> Bool {
        func reader(_ value: StatusAtInstant) -> [String] {
            let always = [value.status.rawValue, value.productID ?? ""]
            guard value.status.access else { return always }
            return always + [
                "\(value.accessUntil)", "\(value.inTrial)", "\(value.willRenew ?? true)",
                value.renewalProductID ?? value.productID ?? "", "\(value.priceIncreasePending)",
            ]
        }
        return reader(self) == reader(other)
    }
}
