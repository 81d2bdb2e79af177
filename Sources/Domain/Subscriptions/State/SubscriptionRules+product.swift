import AppStorePayloads
import Base

/// The check of the product that renewal info names against the one that the records give.
extension SubscriptionRules {
    /// The period that renewal info names as the newest purchase, by its product and its end, where the records have one of
    /// another product decide. No record of what replaced that one came, and Apple's latest word is about this one.
    func named(
        by renewal: RenewalFact?, insteadOf deciding: Int?, at instant: Timestamp, before next: Int
    ) -> Int? {
        guard areOfSeveralProducts, let renewal, renewal.reportedStatus == ReportedStatus.active,
            let product = renewal.productID, let renewsAt = renewal.renewsAt, instant < renewsAt,
            let deciding, periods[deciding].record.productID != product,
            // Signed within moments of a purchase, it may not know of that yet.
            periods[deciding].firstSignedAt <= renewal.asOf
                || periods[deciding].start.adding(seconds: StatusPolicy.clockDifferenceSeconds) <= renewal.asOf
        else { return nil }
        return periods[..<next].lastIndex {
            $0.record.productID == product && $0.expiresAt == renewsAt && !$0.isRevoked(at: instant)
                && !$0.isReplaced(at: instant)
        }
    }

    /// The transaction of another product that decides, or is about to, although this renewal info names a known period
    /// when it is signed; nil where there is none. What is bought later says nothing against it.
    func contradicted(by renewal: RenewalFact) -> String? {
        let instant = renewal.asOf
        guard areOfSeveralProducts, self.renewal(at: instant) == renewal,
            renewal.reportedStatus == ReportedStatus.active, let product = renewal.productID,
            let renewsAt = renewal.renewsAt
        else { return nil }
        let next = periods.partitioningIndex { $0.start > instant }
        guard let deciding = covering(instant, before: next) ?? lastBegun(at: instant, before: next) else { return nil }
        if named(by: renewal, insteadOf: deciding, at: instant, before: next) != nil {
            return periods[deciding].record.transactionID
        }
        guard periods[deciding].record.productID == product, periods[deciding].expiresAt == renewsAt else { return nil }
        let charged = periods[next...].first {
            $0.firstSignedAt <= instant && $0.start < renewsAt && $0.record.isRenewal && $0.replacedAt == nil
                && $0.record.productID != product && !$0.isRevoked(at: instant)
        }
        return charged?.record.transactionID
    }
}
