import AppStorePayloads
import Base

extension FaultsJudge {
    /// Each fact is reported once, and an event that takes back an earlier one says so.
    mutating func judgeOnce() {
        judgePeriods()
        judgeRefunds()
        judgeRepeats()
        judgeSteps()
    }

    /// What of a subscription is no step from one state to another.
    private static let asides: Set<String> = ["consumption.requested", "consumption.answered"]

    /// Each period is reported exactly once, however often and late it arrives. An event written before the period's
    /// record came names no transaction.
    private mutating func judgePeriods() {
        var times: [String: Int] = [:]
        var isToldWithout: Set<String> = []
        var strange: [String] = []
        for event in told where event.isOfPeriod {
            if let transaction = event.transactionID {
                guard let key = truth.periodOfTransaction[transaction] else {
                    strange.append(event.words)
                    continue
                }
                times[key, default: 0] += 1
            } else if let id = event.purchaseID {
                isToldWithout.insert(id)
            }
        }
        check("periods_twice", "periods that were reported more than once", times.filter { $0.value > 1 }.keys.sorted())
        check(
            "periods_untold", "periods that were not reported",
            truth.periods.filter { times[$0.key] == nil && !isToldWithout.contains($0.value.purchaseID) }
                .map { "\($0.key) of purchase \($0.value.purchaseID)" }.sorted())
        check("periods_strange", "events of periods without a record", strange)
    }

    /// As many more than were taken back as stand: one of each transaction that is refunded now.
    private mutating func judgeRefunds() {
        var standing: [String: Int] = [:]
        var bought: [String: Int] = [:]
        for event in told where !event.isCorrection {
            let key = event.transactionID.flatMap { truth.periodOfTransaction[$0] }
            switch event.kind {
            case "subscription.refunded": standing[key ?? event.id, default: 0] += 1
            case "subscription.refund_reversed": standing[key ?? event.id, default: 0] -= 1
            case "purchase.refunded", "purchase.revoked": bought[event.purchaseID ?? event.id, default: 0] += 1
            case "purchase.refund_reversed": bought[event.purchaseID ?? event.id, default: 0] -= 1
            default: break
            }
        }
        let refunded = truth.periods.mapValues { $0.revokedAt != nil && !$0.isFamilyShared ? 1 : 0 }
        let returned = truth.purchases.mapValues { $0.revokedAt != nil ? 1 : 0 }
        check(
            "refunds_differ", "refunds that were reported more or less often than they stand",
            Self.differences(refunded, standing) + Self.differences(returned, bought))
    }

    private static func differences(_ truth: [String: Int], _ told: [String: Int]) -> [String] {
        Set(truth.keys).union(told.keys).sorted().filter { (truth[$0] ?? 0) != (told[$0] ?? 0) }
            .map { "\($0): \(truth[$0] ?? 0) stand, reported \(told[$0] ?? 0)" }
    }

    /// No event is repeated. After a correction, the corrected event may occur again.
    private mutating func judgeRepeats() {
        var seen: [String: Set<String>] = [:]
        var offenders: [String] = []
        for event in told {
            let subject = event.kind.hasPrefix("account.") ? event.subject : event.purchaseID ?? event.subject
            if event.isCorrection {
                seen[subject] = []
                continue
            }
            var name = "\(event.kind) \(event.at) \(event.transactionID ?? "")"
            if let access = event.access { name += " \(access.ofAccount)" }
            // One word of Apple's may move one end after the other, and is the date of both.
            if event.kind == "subscription.extended" { name += " \(event.subscription?.accessUntil ?? "")" }
            if !seen[subject, default: []].insert(name).inserted { offenders.append(event.words) }
        }
        check("twice", "events that say what was said", offenders)
    }

    /// Each event starts from the state that the one before it reported, and only corrections go back in time.
    /// Exceptions:
    /// - A failed charge that went through, and an end that was moved, hold from then on and correct nothing.
    /// - Whether an ended subscription would have renewed is never reported.
    private mutating func judgeSteps() {
        var last: [String: ToldEvent] = [:]
        var latest: [String: Timestamp] = [:]
        var loose: [String] = []
        var unmarked: [String] = []
        for event in told where !Self.asides.contains(event.kind) {
            let isOfAccount = event.kind.hasPrefix("account.")
            let subject = isOfAccount ? event.subject : event.purchaseID ?? event.subject
            if !Self.follows(event, last[subject]) {
                loose.append("\(event.words) after \(last[subject]?.words ?? "nothing")")
            }
            last[subject] = event
            guard isOfAccount || Self.isStep(event) else { continue }
            if let before = latest[subject], event.at < before, !event.isCorrection {
                unmarked.append("\(event.words), and before there was one at \(before)")
            }
            latest[subject] = max(latest[subject] ?? event.at, event.at)
        }
        check("loose", "events that do not continue what was reported before", loose)
        check("unmarked", "events that go back in time, and are no corrections", unmarked)
    }

    /// Whether it starts from where the one before it ended, or belongs to the same step.
    private static func follows(_ event: ToldEvent, _ before: ToldEvent?) -> Bool {
        // A new account begins as all accounts do: free.
        guard let before else {
            return event.previous == nil || event.previous?.ofAccount == ToldEvent.State.free.ofAccount
        }
        if let access = before.access { return event.previous?.ofAccount == access.ofAccount }
        if let purchase = before.purchase {
            return event.previous?.ofPurchase == purchase.ofPurchase
                || event.previous == before.previous && event.purchase == purchase
        }
        return event.previous?.ofSubscription == before.subscription?.ofSubscription
            || event.previous == before.previous && event.subscription == before.subscription
    }

    /// Whether it reports a change that is dated to when it took effect.
    private static func isStep(_ event: ToldEvent) -> Bool {
        switch event.kind {
        case "subscription.grace_period_started", "subscription.billing_retry_started", "subscription.expired",
            "subscription.revoked", "subscription.uncancelled", "subscription.renewal_product_changed":
            true
        case "subscription.cancelled": event.previous?.access == true
        default: false
        }
    }
}
