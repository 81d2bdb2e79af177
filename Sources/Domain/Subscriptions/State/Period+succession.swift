import AppStorePayloads
import Base

extension Period {
    /// The periods in order of (purchase, expiry, transactionId), with their true ends.
    /// - Parameter words: the renewal infos of the facts.
    static func all(of facts: PurchaseFacts, words: [RenewalWord]) -> [Period] {
        var records: [String: [TransactionFact]] = [:]
        records.reserveCapacity(facts.transactions.count)
        for fact in facts.transactions { records[fact.periodKey, default: []].append(fact) }
        if facts.rarities.contains(.parts) { records = divided(records) }
        var periods = records.compactMap { Period($0.value, key: $0.key) }
        // A transaction may arrive with a line item and without one: then the key decides, so that the order is total.
        periods.sort {
            ($0.start, $0.expiresAt, $0.record.transactionID, $0.key)
                < ($1.start, $1.expiresAt, $1.record.transactionID, $1.key)
        }
        if facts.rarities.contains(.parts) { markParts(of: &periods) }
        if !periods.areOfOneProduct {
            for index in periods.indices { periods[index].replacedAt = replacement(of: index, in: periods) }
        }
        succeed(in: &periods, facts.renewals)
        heed(words, in: &periods, facts.renewals)
        return periods
    }

    /// The same for a caller that has not sorted the renewal infos.
    static func all(of facts: PurchaseFacts) -> [Period] {
        all(of: facts, words: RenewalWord.all(of: facts))
    }

    // MARK: - Parts

    /// Seats that are added may have the line item of the period that they are added to: then the date of the purchase
    /// distinguishes them. Copies of one purchase have one date.
    private static func divided(_ records: [String: [TransactionFact]]) -> [String: [TransactionFact]] {
        var divided: [String: [TransactionFact]] = [:]
        for (key, records) in records {
            guard records.contains(where: { $0.additionalReason != nil }) else {
                divided[key] = records
                continue
            }
            var dates: [String: Timestamp] = [:]
            for record in records { dates[record.transactionID] = record.purchasedAt }
            for record in records {
                let date = dates[record.transactionID].map { "\($0.millisecondsSince1970)" } ?? ""
                divided["\(key)/\(date)", default: []].append(record)
            }
        }
        return divided
    }

    private static func markParts(of periods: inout [Period]) {
        for index in periods.indices where periods[index].standsBeside {
            let part = periods[index].record
            for other in periods.indices
            where other != index && periods[other].record.productID == part.productID
                && periods[other].expiresAt == periods[index].expiresAt
            {
                periods[index].isPart = true
                periods[other].isPart = true
            }
        }
    }

    // MARK: - What replaced what

    /// From when on a renewal counts for nothing, because another plan was bought before it began; nil where it counts.
    ///
    /// Most are known by a record that was signed before that plan was bought: the renewal had been charged. Where none is
    /// (old receipts and devices bring it later), Apple's word that an upgrade replaced it counts, but not by itself: a
    /// plan that really ran, and was upgraded in its time, carries it too.
    private static func replacement(of index: Int, in periods: [Period]) -> Timestamp? {
        let renewal = periods[index]
        guard renewal.record.isRenewal else { return nil }
        let earliest = renewal.start.adding(days: -StatusPolicy.renewsEarlyDays)
        var replacedAt: Timestamp?
        var place = index - 1
        while place >= 0, periods[place].start >= earliest {
            let other = periods[place]
            if other.mayReplace(renewal),
                renewal.firstSignedAt < other.start
                    || renewal.record.isUpgraded && neverBegan(index, before: place, in: periods)
            {
                replacedAt = other.start
            }
            place -= 1
        }
        return replacedAt
    }

    /// Whether this was bought within the day before a renewal to another product, and was to last beyond its beginning.
    func mayReplace(_ renewal: Period) -> Bool {
        guard let product = record.productID, let other = renewal.record.productID, product != other else {
            return false
        }
        return renewal.record.isRenewal && start < renewal.start && renewal.start < expiresAt && chargedAt >= start
            && start >= renewal.start.adding(days: -StatusPolicy.renewsEarlyDays)
    }

    /// Of a renewal that Apple calls upgraded: whether it was to follow the period before the plan that was bought, or
    /// nothing but the renewals of that plan could have upgraded it later.
    private static func neverBegan(_ index: Int, before place: Int, in periods: [Period]) -> Bool {
        let (renewal, other) = (periods[index], periods[place])
        let follows = periods[..<place].contains {
            let gap = renewal.start.milliseconds(since: $0.expiresAt)
            return $0.start < other.start && abs(gap) <= StatusPolicy.seamSeconds * 1000
        }
        if follows { return true }
        let renews = other.expiresAt.adding(days: -StatusPolicy.renewsEarlyDays)
        return !periods[(index + 1)...].contains {
            renewal.start < $0.start && $0.start < min(renewal.expiresAt, renews)
        }
    }

    /// Gives each period its end.
    private static func succeed(in periods: inout [Period], _ renewals: [RenewalFact]) {
        for index in periods.indices {
            if let successor = successor(of: index, in: periods) {
                periods[index].isSucceeded(by: periods[successor])
            } else if let renewsAt = periods[index].standsUntil(renewals) {
                periods[index].isSucceeded(at: renewsAt)
            }
        }
        for place in periods.indices {
            guard let replacedAt = periods[place].replacedAt, periods[place].chargedAt < replacedAt else { continue }
            let other = periods[place]
            for index in periods.indices where other.mayEnd(periods[index]) {
                periods[index].wasToBeSucceeded(by: other, until: replacedAt)
            }
        }
    }

    /// Whether this takes the place of a period before its time, provided that it begins.
    private func mayEnd(_ period: Period) -> Bool {
        guard period.start < start, start < period.expiresAt, !isPart(of: period) else { return false }
        let lastDay = period.expiresAt.adding(days: -StatusPolicy.renewsEarlyDays)
        return !(record.isRenewal && wasRevoked && start >= lastDay)
    }

    /// What replaced a period before its time: any later one that begins in it, whether or not Apple ever sent the old
    /// transaction again with `isUpgraded`; the old expiry may well lie after the new plan's. A renewal that was charged in
    /// the period's last day and refunded, if only for a while, takes nothing from it, and neither does one that never
    /// begins or a part of the same period.
    private static func successor(of index: Int, in periods: [Period]) -> Int? {
        var later = index + 1
        while later < periods.count, periods[later].start < periods[index].expiresAt {
            if periods[later].replacedAt == nil, periods[later].mayEnd(periods[index]) { return later }
            later += 1
        }
        return nil
    }

    /// For a period that Apple calls upgraded while the purchase that replaced it is unknown: the end of that
    /// purchase, by renewal info that is not older.
    private func standsUntil(_ renewals: [RenewalFact]) -> Timestamp? {
        guard record.isUpgraded, replacedAt == nil, let renewal = renewals.last, renewal.signedAt >= record.signedAt,
            let renewsAt = renewal.renewsAt, renewsAt > start
        else { return nil }
        return renewsAt
    }

    // MARK: - Periods that renewal info alone names

    /// Lets periods end, or never begin, where Apple names a purchase that was never heard of.
    ///
    /// Renewal info beside status 1 names the newest purchase by its product and its end. Where neither is a known period's,
    /// and what decides when it is signed is of another product, that purchase was made by then: it ends what ran, and
    /// what was charged ahead of it never begins. Its own record, once heard, is known, and takes its place.
    private static func heed(
        _ words: [RenewalWord], in periods: inout [Period], _ renewals: [RenewalFact]
    ) {
        guard let first = periods.first else { return }
        let product = first.record.productID
        let isOfOne = periods.areOfOneProduct
        var unheard: [(from: Timestamp, product: String)] = []
        for (place, word) in words.enumerated() {
            let (asOf, renewal) = (word.asOf, word.fact)
            guard renewal.reportedStatus == ReportedStatus.active, let named = renewal.productID,
                !(isOfOne && named == product), let renewsAt = renewal.renewsAt, asOf < renewsAt,
                !isKnown(named, until: renewsAt, at: asOf, in: periods)
            else { continue }
            let deciding = deciding(at: asOf, in: periods)
            if let deciding {
                let period = periods[deciding]
                if period.record.productID == named { continue }
                // The renewal to another product, charged ahead: what runs, runs to its end.
                let before = words[..<place].last?.fact
                if before?.renewalProductID == named, before?.autoRenew != false, period.end < renewsAt,
                    asOf >= period.end.adding(days: -StatusPolicy.renewsEarlyDays)
                {
                    continue
                }
            }
            unheard.append((asOf, named))
            var neverBegin = false
            for index in periods.indices
            where periods[index].record.productID != named && asOf < periods[index].start
                && periods[index].firstSignedAt <= asOf && periods[index].start < renewsAt
            {
                periods[index].replacedAt = min(periods[index].replacedAt ?? asOf, asOf)
                neverBegin = true
            }
            if neverBegin {
                // They end nothing any more.
                for index in periods.indices { periods[index] = periods[index].unreplaced }
                succeed(in: &periods, renewals)
            }
            for (from, product) in neverBegin ? unheard : [(asOf, named)] {
                for index in periods.indices where periods[index].record.productID != product {
                    periods[index].isSucceeded(byUnheardFrom: from)
                }
            }
        }
    }

    /// Whether a period of this product is known that ends then, or one that is charged and about to begin.
    private static func isKnown(
        _ product: String, until end: Timestamp, at instant: Timestamp, in periods: [Period]
    ) -> Bool {
        periods.contains {
            $0.record.productID == product && !$0.isReplaced(at: instant)
                && ($0.expiresAt == end
                    || instant < $0.start && $0.firstSignedAt <= instant && $0.start < end)
        }
    }

    /// The period that decides at an instant: the last that gives access, else the last that has begun.
    private static func deciding(at instant: Timestamp, in periods: [Period]) -> Int? {
        periods.lastIndex { $0.contains(instant) }
            ?? periods.lastIndex { $0.start <= instant && !$0.isReplaced(at: instant) }
    }
}

extension [Period] {
    /// Whether all are of one product: then none replaces another before that begins.
    var areOfOneProduct: Bool { dropFirst().allSatisfy { $0.record.productID == self[0].record.productID } }
}
