import AppStorePayloads
import Base
import Postgres
import PurchaseStore
import Subscriptions

/// Random entries about one line, drawn so that what is awkward is common: dates that coincide or miss each other by a
/// millisecond, missing dates, upgrades without a successor, revocations before the purchase, overlaps, restores, stale
/// renewal info, grace with and without a date, family sharing, records signed at the same instant.
struct RandomEntries<Generator: RandomNumberGenerator> {
    var generator: Generator
    private var made: UInt64 = 0

    init(_ generator: Generator) { self.generator = generator }

    mutating func draw(about line: PurchaseKey) -> [LedgerEntry] {
        var transactions: [TransactionPayload] = []
        for _ in 0..<Int.random(in: 1...6, using: &generator) { transactions.append(transaction(line)) }
        let dates = transactions.compactMap(\.expiresDate)
        var renewals: [RenewalInfoPayload] = []
        for _ in 0..<Int.random(in: 0...2, using: &generator) { renewals.append(renewal(line, dates)) }
        var entries: [LedgerEntry] = []
        for (number, transaction) in transactions.enumerated() {
            let renewal = number < renewals.count ? renewals[number] : nil
            // Some of it was only said, of the same transactions and of others.
            if chance(15) {
                entries.append(unsigned(line, .receiptTransaction(.init(transaction, digest: digest()))))
                if let renewal { entries.append(unsigned(line, .receiptRenewal(.init(renewal, digest: digest())))) }
            } else {
                entries.append(entry(line, transaction, renewal))
            }
        }
        return entries
    }

    private mutating func unsigned(_ line: PurchaseKey, _ record: LedgerEntry.Record) -> LedgerEntry {
        made += 1
        return LedgerEntry(
            outboxID: Int64(made), receivedAt: PostgresTimestamp(millisecondsSince1970: 0), source: .api,
            environment: line.environment, bundleID: line.bundleID, record)
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    private mutating func pick<T>(_ choices: [T]) -> T { choices[Int.random(in: choices.indices, using: &generator)] }

    private mutating func day(_ range: ClosedRange<Int64>) -> Timestamp {
        let day = Int64.random(in: range, using: &generator)
        let jitter: Int64 = chance(80) ? 0 : .random(in: -1...1, using: &generator)
        return Timestamp(millisecondsSince1970: 1_749_990_400_000).adding(days: day).adding(milliseconds: jitter)
    }

    private mutating func token() -> UniqueIdentifier? {
        chance(40) ? UniqueIdentifier(high: 7, low: .random(in: 1...3, using: &generator)) : nil
    }

    /// No two records have the same digest, as no two texts have.
    private mutating func digest() -> [UInt8] {
        made += 1
        return withUnsafeBytes(of: generator.next().bigEndian, Array.init)
            + withUnsafeBytes(of: made.bigEndian, Array.init) + Array(repeating: 0, count: 16)
    }

    private mutating func entry(
        _ line: PurchaseKey, _ transaction: TransactionPayload, _ renewal: RenewalInfoPayload?
    ) -> LedgerEntry {
        made += 1
        let data = NotificationData(
            status: chance(30) ? AppleStatus(rawValue: .random(in: 1...5, using: &generator)) : nil)
        let uuid = UniqueIdentifier(high: generator.next(), low: made)
        return LedgerEntry(
            outboxID: Int64(made), receivedAt: PostgresTimestamp(millisecondsSince1970: 0),
            environment: line.environment, bundleID: line.bundleID,
            notification: NotificationPayload(
                notificationType: .didRenew, notificationUUID: uuid.description, uuid: uuid, signedDate: day(0...120),
                part: .data(data)),
            transaction: .init(transaction, digest: digest()), renewal: renewal.map { .init($0, digest: digest()) })
    }

    private mutating func transaction(_ line: PurchaseKey) -> TransactionPayload {
        let start = day(0...90)
        let length = pick([0, 1, 3, 7, 7, 30, 30, 30, 365] as [Int64])
        return TransactionPayload(
            transactionId: "\(line.originalTransactionID).\(Int.random(in: 1...6, using: &generator))",
            originalTransactionId: line.originalTransactionID, bundleId: line.bundleID, signedDate: day(0...100),
            webOrderLineItemId: chance(40) ? "w\(Int.random(in: 1...4, using: &generator))" : nil,
            productId: chance(95) ? pick(["basic", "premium", "yearly"]) : nil,
            subscriptionGroupIdentifier: chance(90) ? "group" : nil,
            purchaseDate: chance(96) ? start : nil,
            expiresDate: chance(96) ? start.adding(days: length).adding(milliseconds: chance(3) ? -1 : 0) : nil,
            quantity: 1, type: chance(95) ? .autoRenewableSubscription : pick([nil, .consumable]),
            inAppOwnershipType: OwnershipType(rawValue: chance(10) ? "FAMILY_SHARED" : "PURCHASED"),
            appAccountToken: token(),
            // Now and then before the purchase, or after the end.
            revocationDate: chance(20) ? day(-5...120) : nil,
            isUpgraded: chance(12) ? true : nil,
            offerType: chance(80) ? .introductory : nil, offerDiscountType: chance(15) ? .freeTrial : nil,
            transactionReason: chance(50) ? .renewal : nil,
            json: Array("{}".utf8))
    }

    private mutating func renewal(_ line: PurchaseKey, _ dates: [Timestamp]) -> RenewalInfoPayload {
        let renewsAt = dates.isEmpty || chance(10) ? nil : chance(70) ? pick(dates) : day(0...150)
        return RenewalInfoPayload(
            originalTransactionId: line.originalTransactionID, signedDate: day(0...120), productId: "basic",
            autoRenewProductId: chance(90) ? pick(["basic", "premium"]) : nil,
            autoRenewStatus: pick([.on, .on, .off, nil]), renewalDate: renewsAt,
            expirationIntent: chance(20) ? ExpirationIntent(rawValue: .random(in: 1...5, using: &generator)) : nil,
            isInBillingRetryPeriod: chance(35) ? true : nil,
            gracePeriodExpiresDate: chance(30) ? (renewsAt ?? day(0...120)).adding(days: pick([3, 16, 28])) : nil,
            priceIncreaseStatus: chance(10) ? .unanswered : nil, appAccountToken: token(), json: Array("{}".utf8))
    }
}

extension LedgerEntry {
    /// Everything in entries about one line.
    static func facts(in entries: some Sequence<LedgerEntry>) -> PurchaseFacts {
        var facts = PurchaseFacts()
        for entry in entries {
            guard let signedAt = entry.signedAt else { continue }
            var status: Int?
            if case .data(let data) = entry.notification?.part { status = data.status.map { Int($0.rawValue) } }
            if let signed = entry.transaction {
                facts.merge(
                    TransactionFact(
                        signed.payload, digest: signed.digest, asOf: signedAt, isUnsigned: entry.kind.isUnsigned))
            }
            if let signed = entry.renewal {
                facts.merge(
                    RenewalFact(
                        signed.payload, digest: signed.digest, asOf: signedAt, reportedStatus: status,
                        isUnsigned: entry.kind.isUnsigned))
            }
            if let status {
                let parts = [entry.transaction?.payload.signedDate, entry.renewal?.payload.signedDate]
                let asOf = parts.compactMap(\.self).reduce(signedAt, min)
                facts.merge(ReportedStatus(status: status, signedAt: signedAt, asOf: asOf))
            }
        }
        return facts
    }
}

extension PurchaseFacts {
    /// Every instant at which anything could change, and the two ends of what a database can say.
    var boundaries: [Timestamp] {
        var dates: [Timestamp] = []
        for fact in transactions {
            dates += [fact.purchasedAt, fact.expiresAt, fact.revokedAt, fact.asOf].compactMap(\.self)
        }
        for renewal in renewals {
            dates += [renewal.asOf, renewal.renewsAt, renewal.graceExpiresAt].compactMap(\.self)
        }
        for report in reportedStatuses { dates.append(report.asOf) }
        var instants: Set<Timestamp> = []
        for date in dates {
            for days: Int64 in [-1, 0, 16, 60] { instants.insert(date.adding(days: days)) }
        }
        return instants.sorted()
    }
}
