import AppStorePayloads
import Base

/// One stretch of time that was paid for (or given): the transactions of one web order line item. The latest-signed
/// record decides.
///
/// How periods replace each other is decided by the order in which they were bought, which is not the order in which they
/// begin: a renewal is charged up to a day ahead, and another plan may be bought meanwhile. Then it never begins
/// (``replacedAt``).
struct Period: Sendable {
    /// A refund that was reversed: from its date until the record without it was signed.
    struct ReversedRevocation: Sendable, Hashable {
        let from: Timestamp
        let toldAt: Timestamp
        let until: Timestamp
    }

    /// What all records of the period have in common, and those of no other.
    let key: String
    let record: TransactionFact
    let start: Timestamp
    /// When it ends by its own record, before refunds and later purchases.
    let expiresAt: Timestamp
    /// The other ends that earlier records of it gave, before Apple moved it. Mostly none.
    let formerEnds: [Timestamp]
    /// From when on it counts as paid: its first record's signature, if Apple charged ahead of the start.
    let chargedAt: Timestamp
    /// When its first record was signed.
    let firstSignedAt: Timestamp
    /// When the refund that stands was first reported; nil where none stands.
    let revocationToldAt: Timestamp?
    let reversed: [ReversedRevocation]
    /// Whether one of its records says why it stands beside others.
    let standsBeside: Bool
    /// From when on it counts for nothing: it was charged ahead, and another plan was bought before it began.
    private(set) var replacedAt: Timestamp?
    /// Whether it is one of several parts of one period (seats that were added, a purchase in two transactions).
    private(set) var isPart = false
    /// When it ends if no known purchase replaced it.
    private var endBySuccession: Timestamp
    /// The purchase that replaced it before its time.
    private var successor: (start: Timestamp, chargedAt: Timestamp)?
    /// What was going to replace it, until that was replaced before it began. Mostly nothing.
    private var formerSuccessors: [(start: Timestamp, chargedAt: Timestamp, replacedAt: Timestamp)] = []
    /// From when on a purchase has replaced it that was never heard of.
    private var unheardFrom: Timestamp?
    /// When it really ends, by all known facts.
    private(set) var end: Timestamp

    /// Nil for what is not an auto-renewable period, or lacks a date that makes it one.
    /// - Parameter records: those of one line item, in the order of signing.
    init?(_ records: [TransactionFact], key: String? = nil) {
        guard var record = records.last, record.isUsablePeriod, let purchasedAt = record.purchasedAt,
            let expiresAt = record.expiresAt
        else { return nil }
        let firstSignedAt = records.reduce(record.asOf) { min($0, $1.asOf) }
        self.key = key ?? record.periodKey
        standsBeside = records.contains { $0.additionalReason != nil }
        self.expiresAt = expiresAt
        formerEnds = records.compactMap { $0.expiresAt == expiresAt ? nil : $0.expiresAt }
        self.firstSignedAt = firstSignedAt
        // A renewal is charged up to a day ahead. A purchase is not: where its date lies a moment after its signature,
        // two of Apple's clocks differ, and it has begun.
        let ahead = purchasedAt.milliseconds(since: firstSignedAt)
        let isClockDifference = !record.isRenewal && ahead > 0 && ahead <= StatusPolicy.clockDifferenceSeconds * 1000
        start = isClockDifference ? firstSignedAt : purchasedAt
        chargedAt = min(start, firstSignedAt)
        endBySuccession = expiresAt
        var reversed: [ReversedRevocation] = []
        var standing: (from: Timestamp, toldAt: Timestamp)?
        for record in records {
            if let revokedAt = record.revokedAt {
                // A further record with a later date does not take back that it was refunded by then.
                standing = (min(standing?.from ?? revokedAt, revokedAt), standing?.toldAt ?? record.asOf)
            } else if let ended = standing {
                if ended.from < record.asOf {
                    reversed.append(.init(from: ended.from, toldAt: ended.toldAt, until: record.asOf))
                }
                standing = nil
            }
        }
        revocationToldAt = standing?.toldAt
        self.reversed = reversed
        record.revokedAt = standing?.from
        self.record = record
        end = min(expiresAt, record.revokedAt ?? .distantFuture)
    }

    /// A known purchase takes its place.
    private mutating func isSucceeded(by other: Period) {
        successor = (other.start, other.chargedAt)
        end = min(expiresAt, other.start, record.revokedAt ?? .distantFuture)
    }

    /// One takes its place that was never heard of, and had been made by an instant.
    private mutating func isSucceeded(byUnheardFrom instant: Timestamp) {
        guard start <= instant, instant < expiresAt else { return }
        unheardFrom = min(unheardFrom ?? instant, instant)
        end = min(end, instant)
    }

    private mutating func isSucceeded(at instant: Timestamp) {
        endBySuccession = min(expiresAt, instant)
        end = min(endBySuccession, record.revokedAt ?? .distantFuture)
    }

    var isRevoked: Bool { record.revokedAt != nil }

    /// Whether it is revoked, or once was.
    var wasRevoked: Bool { isRevoked || !reversed.isEmpty }

    func isRevoked(at instant: Timestamp) -> Bool {
        if let revokedAt = record.revokedAt, revokedAt <= instant { return true }
        return reversed.contains { $0.from <= instant && instant < $0.until }
    }

    /// Whether it counts for nothing at an instant, and ever after.
    func isReplaced(at instant: Timestamp) -> Bool { replacedAt.map { $0 <= instant } ?? false }

    /// Whether a record of it says that it lasts until this date: renewal info of before an end was moved names the old
    /// one.
    func lasts(until date: Timestamp) -> Bool { expiresAt == date || formerEnds.contains(date) }

    /// Whether both are parts of one period: neither takes the other's place, and it is revoked when all are.
    func isPart(of other: Period) -> Bool {
        isPart && other.isPart && expiresAt == other.expiresAt && record.productID == other.record.productID
    }

    func contains(_ instant: Timestamp) -> Bool {
        start <= instant && instant < end && !isRevoked(at: instant) && !isReplaced(at: instant)
    }

    /// The same period if no purchase took its place.
    var unreplaced: Period {
        var period = self
        period.successor = nil
        period.formerSuccessors = []
        period.unheardFrom = nil
        period.endBySuccession = expiresAt
        period.end = min(expiresAt, record.revokedAt ?? .distantFuture)
        return period
    }

    /// When it was to end, as seen at an instant: refunds and replacements count only once they have happened.
    func end(asSeenAt instant: Timestamp) -> Timestamp {
        if let revokedAt = record.revokedAt, revokedAt <= instant { return end }
        let end = endBeforeRefund(asSeenAt: instant)
        guard let refund = reversed.last(where: { $0.from <= instant && instant < $0.until }) else { return end }
        return min(end, refund.from)
    }

    /// When it was to end, as renewal info signed at the instant sees it: a refund reported later, whatever its date,
    /// does not count.
    func end(asSignedAt instant: Timestamp) -> Timestamp {
        let end = endBeforeRefund(asSeenAt: instant)
        if let revocationToldAt, revocationToldAt <= instant { return min(end, record.revokedAt ?? end) }
        guard let refund = reversed.last(where: { $0.toldAt <= instant && instant < $0.until }) else { return end }
        return min(end, refund.from)
    }

    private func endBeforeRefund(asSeenAt instant: Timestamp) -> Timestamp {
        var end = endBySuccession
        if let successor, successor.chargedAt <= instant { end = min(expiresAt, successor.start) }
        for former in formerSuccessors where former.chargedAt <= instant && instant < former.replacedAt {
            end = min(end, former.start)
        }
        if let unheardFrom, unheardFrom <= instant { end = min(end, unheardFrom) }
        return end
    }
}

extension TransactionFact {
    /// Whether it makes a period of an auto-renewable subscription.
    var isUsablePeriod: Bool { kind == .autoRenewableSubscription && purchasedAt != nil && expiresAt != nil }

    /// The key shared by all records of one paid period. Line items and transactions are numbered independently: the
    /// prefix keeps them apart.
    var periodKey: String { webOrderLineItemID.map { "w\($0)" } ?? "t\(transactionID)" }
}

extension Period {
    /// The periods in order of (purchase, expiry, transactionId), with their true ends.
    /// - Parameter words: the renewal infos by the instants from which they count; see ``SubscriptionRules``.
    static func all(of facts: PurchaseFacts, words: [(asOf: Timestamp, fact: RenewalFact)]) -> [Period] {
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

    /// The same for facts of which nothing is known but themselves.
    static func all(of facts: PurchaseFacts) -> [Period] {
        all(of: facts, words: SubscriptionRules.words(of: facts).renewals)
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
                periods[index].formerSuccessors.append((other.start, other.chargedAt, replacedAt))
            }
        }
    }

    /// Whether this takes the place of a period before its time, unless it never begins.
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
        _ words: [(asOf: Timestamp, fact: RenewalFact)], in periods: inout [Period], _ renewals: [RenewalFact]
    ) {
        guard let first = periods.first else { return }
        let product = first.record.productID
        let isOfOne = periods.areOfOneProduct
        var unheard: [(from: Timestamp, product: String)] = []
        for (place, (asOf, renewal)) in words.enumerated() {
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
