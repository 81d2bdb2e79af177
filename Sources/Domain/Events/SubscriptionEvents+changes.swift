import AppStorePayloads
import Subscriptions

extension SubscriptionEvents.Step {
    /// A change of what the subscription is.
    struct Change {
        let kind: EventKind
        let isCorrection: Bool
        /// Whether it reports a period whose own record was not received.
        var isOfUnheardPeriod = false
    }

    /// Whether a period is the one that decides after the step.
    func isOf(_ period: PaidPeriod) -> Bool { period.transactionID == new.transactionID }

    /// Whether a period reported as this kind replaces an earlier report that was wrong.
    func corrects(by kind: EventKind) -> Bool {
        guard isRevision, let old, old.standing != new.standing else { return false }
        return kind != .subscriptionRecovered && before == nil
    }

    /// Whether a change takes back what was reported, and was never so in this respect.
    func corrects(_ isSame: (_ reported: StatusAtInstant, _ before: StatusAtInstant) -> Bool = { _, _ in true }) -> Bool
    {
        guard isRevision, let old else { return false }
        return before.map { !isSame(old, $0) } ?? true
    }

    /// What has changed, the most important first, but for what is explained.
    func changes(_ explained: StepExplanation) -> [Change] {
        var changes = standing(explained)
        guard let old, new.status.access else { return changes }
        if old.productID != new.productID, !explained.isOfProduct,
            !changes.contains(where: { $0.kind == .subscriptionConverted })
        {
            changes.append(Change(kind: .subscriptionProductChanged, isCorrection: corrects()))
        }
        changes += renewing(after: old, explained)
        if old.priceIncreasePending != new.priceIncreasePending, old.status.access {
            let isCorrection = corrects { $0.priceIncreasePending == $1.priceIncreasePending }
            if new.priceIncreasePending {
                changes.append(Change(kind: .subscriptionPriceIncreasePending, isCorrection: isCorrection))
            } else if new.isRenewing {
                changes.append(Change(kind: .subscriptionPriceIncreaseAgreed, isCorrection: isCorrection))
            }
        } else if new.priceIncreasePending, !old.status.access, !isRevision {
            changes.append(Change(kind: .subscriptionPriceIncreasePending, isCorrection: false))
        }
        if old.standing == .paid, new.standing == .paid, !explained.hasPeriod,
            !changes.contains(where: \.isOfUnheardPeriod), old.transactionID == new.transactionID,
            new.expiresAt > old.expiresAt
        {
            changes.append(Change(kind: .subscriptionExtended, isCorrection: false))
        }
        return changes
    }

    private func standing(_ explained: StepExplanation) -> [Change] {
        guard old?.standing != new.standing else {
            if isOfUnheardPeriod, !explained.hasPeriod {
                return [
                    Change(
                        kind: explained.isConversion ? .subscriptionConverted : .subscriptionRenewed,
                        isCorrection: false, isOfUnheardPeriod: true)
                ]
            }
            let isConverted = hasTrialEnded && !explained.isConverted && !explained.hasPeriod
            return isConverted ? [Change(kind: .subscriptionConverted, isCorrection: false)] : []
        }
        let isCorrection = corrects()
        let kind: EventKind
        switch new.standing {
        case .gracePeriod: kind = .subscriptionGracePeriodStarted
        case .billingRetry: kind = .subscriptionBillingRetryStarted
        case .expired: kind = .subscriptionExpired
        case .revoked: kind = .subscriptionRevoked
        case .paid: return paid(explained)
        }
        return [Change(kind: kind, isCorrection: isCorrection)]
    }

    private func paid(_ explained: StepExplanation) -> [Change] {
        if explained.hasPeriod || explained.hasReversal { return [] }
        guard let old else {
            return [
                Change(
                    kind: new.inTrial ? .subscriptionTrialStarted : .subscriptionStarted, isCorrection: false,
                    isOfUnheardPeriod: new.basis == .renewalInfo)
            ]
        }
        let isFailure = old.standing == .gracePeriod || old.standing == .billingRetry
        if isOfUnheardPeriod {
            return [
                Change(
                    kind: explained.isConversion
                        ? .subscriptionConverted : isFailure ? .subscriptionRecovered : .subscriptionRenewed,
                    isCorrection: isRevision && !isFailure, isOfUnheardPeriod: true)
            ]
        }
        if old.transactionID == new.transactionID, new.expiresAt > old.expiresAt {
            return [Change(kind: .subscriptionExtended, isCorrection: isRevision)]
        }
        return [Change(kind: .subscriptionRecovered, isCorrection: isRevision)]
    }

    /// Whether the deciding period is known by renewal info only, and its end was not reported.
    private var isOfUnheardPeriod: Bool {
        guard new.basis == .renewalInfo, new.standing == .paid, let old else { return false }
        return old.expiresAt < new.periodEndsAt
    }

    private func renewing(after old: StatusAtInstant, _ explained: StepExplanation) -> [Change] {
        var changes: [Change] = []
        let isSwitchCorrected = corrects { $0.isRenewing == $1.isRenewing }
        if old.isRenewing, !new.isRenewing {
            changes.append(Change(kind: .subscriptionCancelled, isCorrection: isSwitchCorrected && old.status.access))
        }
        // A purchase has auto-renew on, and a renewal had it on.
        if !old.isRenewing, new.isRenewing, old.status.access, !explained.hasPeriod {
            changes.append(Change(kind: .subscriptionUncancelled, isCorrection: isSwitchCorrected))
        }
        let isChanged = old.comingProductID != new.comingProductID
        // A new product renews to itself, which the period says.
        let isSaid = new.comingProductID == new.productID && old.productID != new.productID
        if isChanged, !isSaid, old.status.access || new.comingProductID != new.productID {
            changes.append(
                Change(
                    kind: .subscriptionRenewalProductChanged,
                    isCorrection: corrects { $0.comingProductID == $1.comingProductID }))
        }
        return changes
    }

    /// Whether the trial was followed by a paid period.
    private var hasTrialEnded: Bool { old?.inTrial == true && !new.inTrial && new.standing == .paid }

    /// What a reader takes it to have been before, if anything: from a conversion on a trial is none any more.
    func old(_ explained: StepExplanation) -> StatusAtInstant? {
        hasTrialEnded && explained.isConverted ? old?.afterTrial : old
    }

    /// What is reported where a reader has to know of a change that is none of these.
    var otherwise: EventKind {
        switch new.standing {
        case .paid: old?.accessUntil != new.accessUntil ? .subscriptionExtended : .subscriptionProductChanged
        case .gracePeriod: .subscriptionGracePeriodStarted
        case .billingRetry, .expired, .revoked: .subscriptionProductChanged
        }
    }
}
