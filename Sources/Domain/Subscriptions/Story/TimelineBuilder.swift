import AppStorePayloads
import Base

/// The story up to a piece of evidence. Compared with it, the piece shows what it changed.
///
/// Changes are found in the signed records. Apple's type only states what no record does (a refund was asked for) and
/// which of two names for one change is meant. A lost or unknown type leaves the rest of the story as it is.
struct TimelineBuilder {
    /// The latest-signed record of each period, or of each one-time transaction.
    private var records: [String: TransactionFact] = [:]
    /// The record of the period that begins last.
    private var latest: TransactionFact?
    private var renewal: RenewalFact?
    private var reported: Int?
    /// From when on renewals that were charged ahead count for nothing, by the keys of their periods; those that the story
    /// has not told of yet.
    private var replaced: [String: Timestamp] = [:]
    /// Those that never begin.
    private let neverBegin: Set<String>

    /// A story that has not begun.
    /// - Parameter periods: what all of its evidence makes of the purchase.
    init(_ periods: [Period]) {
        for period in periods { replaced[period.record.periodKey] = period.replacedAt }
        neverBegin = Set(replaced.keys)
    }

    /// Takes the next piece of evidence; returns what it changed.
    mutating func take(_ piece: PurchaseEvidence, _ status: StatusAtInstant?) -> [PurchaseChange] {
        var changes: [PurchaseChange] = []
        if let type = piece.type, !type.isKnown { changes.append(PurchaseChange(.unknownType, reason: type.rawValue)) }
        changes += asked(piece)
        let isReplaced = piece.transaction.map { $0.isUpgraded && records[$0.periodKey]?.isUpgraded == false } ?? false
        let bought = piece.transaction.flatMap { take($0, piece) } ?? []
        changes += bought
        changes += neverBegun(at: piece)
        let isNewPeriod = bought.contains { Self.periods.contains($0.kind) }
        let previous = renewal
        if let new = piece.renewal, previous.map({ new.isLater(than: $0) }) ?? true {
            changes += told(new, after: previous, piece, status, isNewPeriod)
            renewal = new
        }
        if let status = piece.reportedStatus?.status, ReportedStatus.isKnown(status) {
            if piece.type != .expired, status == ReportedStatus.expired, let reported, reported != status {
                changes.append(PurchaseChange(.expired, intent: piece.renewal?.expirationIntent))
            }
            reported = status
        }
        if changes.isEmpty, isReplaced { changes.append(PurchaseChange(.replaced)) }
        if changes.isEmpty { changes.append(PurchaseChange(.nothingNew, reason: piece.type?.rawValue)) }
        return changes
    }

    /// The changes that begin a period.
    private static let periods: Set<PurchaseChange.Kind> = [
        .bought, .trialStarted, .boughtAgain, .familyShared, .renewed, .recovered, .upgraded, .productChanged,
        .periodTold,
    ]

    /// The types that report a purchase when it happens. Others mention it later.
    private static let buying: Set<NotificationType> = [.subscribed, .didRenew, .offerRedeemed, .oneTimeCharge]

    /// What only the type states.
    private func asked(_ piece: PurchaseEvidence) -> [PurchaseChange] {
        let transaction = piece.transaction
        func about(_ kind: PurchaseChange.Kind, _ reason: String? = nil) -> PurchaseChange {
            PurchaseChange(
                kind, productID: transaction?.productID, from: transaction?.purchasedAt, until: transaction?.expiresAt,
                reason: reason)
        }
        return switch piece.type {
        case .consumptionRequest: [about(.consumptionRequested, piece.consumptionRequestReason)]
        case .refundDeclined: [about(.refundDeclined)]
        case .gracePeriodExpired: [PurchaseChange(.graceEnded)]
        case .expired: [PurchaseChange(.expired, intent: piece.renewal?.expirationIntent)]
        case .metadataUpdate, .priceChange, .migration, .migrate:
            [PurchaseChange(.commerceChanged, reason: piece.type?.rawValue)]
        case .renewalExtension where piece.subtype == .failure: [PurchaseChange(.extensionFailed)]
        case .renewalExtended:
            [
                PurchaseChange(
                    .extended, until: [transaction?.expiresAt, piece.renewal?.renewsAt].compactMap(\.self).max())
            ]
        default: []
        }
    }

    // MARK: - Transactions

    private mutating func take(_ new: TransactionFact, _ piece: PurchaseEvidence) -> [PurchaseChange] {
        let key = new.isUsablePeriod ? new.periodKey : "t\(new.transactionID)"
        let previous = records[key]
        if let previous, !new.supersedes(previous) { return [] }
        let isFirst = records.isEmpty
        records[key] = new
        defer {
            if new.isUsablePeriod, !neverBegin.contains(key),
                (latest?.purchasedAt ?? .distantPast) <= (new.purchasedAt ?? .distantPast)
            {
                latest = new
            }
        }
        var changes = revoked(new, after: previous, piece)
        if previous == nil, new.revokedAt == nil {
            if OneTimePurchase.Kind(new) != nil {
                let isPurchase =
                    isFirst
                    || new.isPricedNonConsumable && new.originalPurchasedAt != nil && hasRefund(before: new)
                changes.append(boughtOnce(new, isFirst: isPurchase, piece))
            } else if new.isUsablePeriod, piece.type != .consumptionRequest, piece.type != .refundDeclined {
                changes.append(began(new, piece))
            }
        }
        if let previous, piece.type != .renewalExtended, let expiresAt = new.expiresAt, let was = previous.expiresAt,
            expiresAt > was
        {
            changes.append(PurchaseChange(.extended, until: expiresAt))
        }
        return changes
    }

    /// The renewals that were reported, and that another plan replaced before they began.
    private mutating func neverBegun(at piece: PurchaseEvidence) -> [PurchaseChange] {
        guard !replaced.isEmpty else { return [] }
        let now = replaced.filter { $0.value <= piece.instant }.keys.compactMap { records[$0] }
        for record in now { replaced[record.periodKey] = nil }
        return now.sorted { $0.transactionID < $1.transactionID }.map {
            PurchaseChange(.renewalReplaced, productID: $0.productID, from: $0.purchasedAt, until: $0.expiresAt)
        }
    }

    private func revoked(
        _ new: TransactionFact, after previous: TransactionFact?, _ piece: PurchaseEvidence
    ) -> [PurchaseChange] {
        let isFamily = new.isFamilyShared || piece.type == .revoke
        var change = PurchaseChange(
            .refunded, productID: new.productID, from: new.purchasedAt, until: new.expiresAt)
        if new.revokedAt != nil {
            let isKnown = previous?.revokedAt != nil && previous?.revocationPercentage == new.revocationPercentage
            if isKnown { return [] }
            if isFamily {
                change.kind = .familyRevoked
            } else {
                let share = new.revocationPercentage ?? OneTimePurchase.whole
                change.share = share
                change.amount = piece.price?.share(share)
                change.refundReason = new.revocationReason
            }
            return [change]
        }
        guard previous?.revokedAt != nil || piece.type == .refundReversed else { return [] }
        change.kind = .refundReversed
        return [change]
    }

    /// Whether something else of the purchase was refunded before this was bought.
    private func hasRefund(before new: TransactionFact) -> Bool {
        records.values.contains {
            $0.transactionID != new.transactionID && $0.revokedAt.map(new.isDated(after:)) ?? false
        }
    }

    private func boughtOnce(_ new: TransactionFact, isFirst: Bool, _ piece: PurchaseEvidence) -> PurchaseChange {
        PurchaseChange(
            isFirst || new.kind == .consumable ? .oneTimeBought : .restored, productID: new.productID,
            from: new.purchasedAt, until: new.expiresAt, amount: paid(for: new, piece), quantity: new.quantity)
    }

    /// A period that is not in the story yet.
    private mutating func began(_ new: TransactionFact, _ piece: PurchaseEvidence) -> PurchaseChange {
        var change = PurchaseChange(
            .periodTold, productID: new.productID, from: new.purchasedAt, until: new.expiresAt,
            amount: paid(for: new, piece))
        if let replacedAt = replaced[new.periodKey], replacedAt <= piece.instant {
            replaced[new.periodKey] = nil
            change.kind = .renewalReplaced
            return change
        }
        let age = new.purchasedAt.map { piece.signedAt.milliseconds(since: $0) } ?? 0
        let isOld = latest?.purchasedAt.map { known in new.purchasedAt.map { $0 < known } ?? false } ?? false
        let isNews = age <= TransactionFact.regularDelay || piece.type.map(Self.buying.contains) ?? false
        guard isNews, !isOld else { return change }
        change.kind = kind(of: new, piece)
        if let former = latest?.productID, former != new.productID { change.formerProductID = former }
        return change
    }

    private func kind(of new: TransactionFact, _ piece: PurchaseEvidence) -> PurchaseChange.Kind {
        if new.isFamilyShared, !new.isRenewal { return .familyShared }
        if piece.subtype == .billingRecovery || renewal?.tellsOfRetry == true && new.isRenewal { return .recovered }
        if new.isRenewal { return .renewed }
        guard let latest else { return new.isFreeTrial ? .trialStarted : .bought }
        let isWithin = (new.purchasedAt ?? .distantPast) < (latest.revokedAt ?? latest.expiresAt ?? .distantPast)
        if isWithin, new.productID != latest.productID {
            return piece.subtype == .upgrade ? .upgraded : .productChanged
        }
        return new.isFreeTrial ? .trialStarted : .boughtAgain
    }

    /// Another family member paid for what a family shares.
    private func paid(for new: TransactionFact, _ piece: PurchaseEvidence) -> Money? {
        new.isFamilyShared ? nil : piece.price
    }

    // MARK: - Renewal info

    private func told(
        _ new: RenewalFact, after previous: RenewalFact?, _ piece: PurchaseEvidence, _ status: StatusAtInstant?,
        _ isNewPeriod: Bool
    ) -> [PurchaseChange] {
        var changes: [PurchaseChange] = []
        if new.tellsOfRetry, piece.type != .gracePeriodExpired, piece.type != .expired {
            if previous?.tellsOfRetry != true {
                let grants = new.reportedStatus.map { $0 == ReportedStatus.gracePeriod } ?? true
                let until = grants ? new.graceExpiresAt ?? status?.graceEndsAt : nil
                changes.append(PurchaseChange(.chargeFailed, until: until))
            } else if reported == ReportedStatus.gracePeriod,
                piece.reportedStatus?.status == ReportedStatus.billingRetry
            {
                changes.append(PurchaseChange(.graceEnded))
            }
        }
        // An entry about the end implies it already.
        if new.autoRenew == false, previous?.autoRenew != false, piece.type != .expired {
            changes.append(PurchaseChange(.autoRenewOff))
        }
        // A purchase or renewal implies auto-renew.
        if new.autoRenew == true, previous?.autoRenew == false, !isNewPeriod {
            changes.append(PurchaseChange(.autoRenewOn))
        }
        let was = previous?.renewalProductID ?? new.productID
        let isBoughtNow = isNewPeriod && new.renewalProductID == piece.transaction?.productID
        if let next = new.renewalProductID, next != was, !isBoughtNow {
            changes.append(
                PurchaseChange(
                    next == new.productID ? .renewalProductKept : .renewalProductChanged, productID: next))
        }
        let isRefused = new.autoRenew == false || new.expirationIntent == 3
        if new.priceIncreasePending, previous?.priceIncreasePending != true {
            changes.append(PurchaseChange(.priceIncreasePending))
        } else if !new.priceIncreasePending,
            previous?.priceIncreasePending == true && !isRefused
                || piece.type == .priceIncrease && piece.subtype == .accepted
        {
            changes.append(PurchaseChange(.priceIncreaseAgreed))
        }
        if piece.type == .offerRedeemed, !isNewPeriod { changes.append(PurchaseChange(.offerRedeemed)) }
        return changes
    }
}

extension RenewalFact {
    /// Whether Apple tries to charge, by the flag or, where Apple leaves it out, by the status beside it.
    fileprivate var tellsOfRetry: Bool {
        inBillingRetry
            ?? (reportedStatus == ReportedStatus.billingRetry || reportedStatus == ReportedStatus.gracePeriod)
    }
}
