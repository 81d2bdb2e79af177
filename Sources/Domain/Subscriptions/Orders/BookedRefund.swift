import AppStorePayloads
public import Base

/// A row of the books about money that went back for a transaction, or came again.
public struct BookedRefund: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Apple gave money back.
        case refund
        /// Apple took a refund back, whole or in part.
        case reversal = "refund_reversed"
        /// Apple ended the purchase, and no money went.
        case revoke
    }

    /// What happened.
    public var kind: Kind
    /// The revocation's date; of a reversal, when Apple signed it.
    public var at: Timestamp
    /// In thousandths of the transaction's currency, never negative; nil where it is not known, and of a revoke.
    public var amount: Int64?
    /// Whether the amount is a share of the price: Apple rounds the share.
    public var isComputed: Bool

    /// Memberwise.
    public init(_ kind: Kind, at: Timestamp, amount: Int64?, isComputed: Bool = false) {
        self.kind = kind
        self.at = at
        self.amount = amount
        self.isComputed = isComputed
    }
}

/// The refunds of one transaction, read from all of its records.
///
/// Apple states how much is refunded by now, and not how much was added: a rise is a further refund, a fall a reversal.
struct RefundHistory {
    /// What a record says is refunded.
    private enum Standing: Equatable {
        /// So much, in thousandths of a percent; 0 for nothing.
        case share(Int64)
        /// A part that the record does not state.
        case unknown
        /// The purchase was ended without money.
        case revoked
    }

    private(set) var rows: [BookedRefund] = []
    /// When the refund that stands was made, by the latest record; nil where none stands.
    private(set) var refundedAt: Timestamp?
    private var standing = Standing.share(0)
    /// The share before a part that was not stated.
    private var knownShare: Int64 = 0
    /// The transactions that a record states as taken back.
    private var revoked: Set<String> = []
    /// When the latest refund was made that a record names.
    private var latestRefund: Timestamp?
    private let price: Int64?

    /// - Parameters:
    ///   - records: of one transaction, in the order of signing.
    ///   - price: what was paid for it; nil where no record says it.
    init(_ records: [TransactionFact], price: Int64?) {
        self.price = price
        for record in records { take(record) }
    }

    /// How much is refunded now, in thousandths of a percent; nil where a part is that Apple does not state.
    var share: Int64? {
        switch standing {
        case .share(let share): share
        case .revoked: 0
        case .unknown: nil
        }
    }

    /// The same in thousandths of the currency; nil where it is not known.
    var refunded: Int64? { share.flatMap { $0 == 0 ? 0 : Self.amount(of: $0, price) } }

    /// A share of a price, rounded half up, at most the price; nil without a price.
    static func amount(of share: Int64, _ price: Int64?) -> Int64? {
        guard let price else { return nil }
        guard share < OneTimePurchase.whole else { return price }
        let (product, overflow) = price.multipliedReportingOverflow(by: share)
        guard !overflow, product >= 0 else { return nil }
        let (amount, rest) = product.quotientAndRemainder(dividingBy: OneTimePurchase.whole)
        return min(price, amount + (rest * 2 >= OneTimePurchase.whole ? 1 : 0))
    }

    private mutating func take(_ record: TransactionFact) {
        if let revokedAt = record.revokedAt {
            revoked.insert(record.transactionID)
            latestRefund = revokedAt
        } else if !revoked.contains(record.transactionID), let latestRefund, let bought = record.purchasedAt,
            bought > latestRefund
        {
            // What was bought after the refund takes back nothing of it.
            return
        }
        let next = Self.standing(record)
        defer {
            standing = next
            if case .share(let share) = next { knownShare = share }
            refundedAt = next == .share(0) || next == .revoked ? nil : record.revokedAt
        }
        guard next != standing else { return }
        // A part that was not stated is stated now: it is the same refund.
        if standing == .unknown, case .share(let share) = next, share > 0 { rows.removeLast() }
        switch (standing, next) {
        case (_, .revoked): rows.append(BookedRefund(.revoke, at: record.revokedAt ?? record.signedAt, amount: nil))
        case (_, .unknown): rows.append(BookedRefund(.refund, at: record.revokedAt ?? record.signedAt, amount: nil))
        case (.unknown, .share(0)):
            rows.append(BookedRefund(.reversal, at: record.signedAt, amount: nil))
        case (_, .share(let share)) where share > knownShare:
            rows.append(
                BookedRefund(
                    .refund, at: record.revokedAt ?? record.signedAt, amount: difference(share, knownShare),
                    isComputed: isComputed(share) || isComputed(knownShare)))
        case (_, .share(let share)) where share < knownShare:
            rows.append(
                BookedRefund(
                    .reversal, at: record.signedAt, amount: difference(knownShare, share),
                    isComputed: isComputed(share) || isComputed(knownShare)))
        default: break
        }
    }

    private func difference(_ higher: Int64, _ lower: Int64) -> Int64? {
        guard let higher = Self.amount(of: higher, price), let lower = Self.amount(of: lower, price) else { return nil }
        return higher - lower
    }

    private func isComputed(_ share: Int64) -> Bool { share > 0 && share < OneTimePurchase.whole }

    /// Without a percentage all is refunded, except where Apple states a part.
    private static func standing(_ record: TransactionFact) -> Standing {
        guard record.revokedAt != nil else { return .share(0) }
        switch record.revocationType {
        case .familyRevoke?, .assignmentRevoke?: return .revoked
        case .refundFull?: return .share(OneTimePurchase.whole)
        case .refundProrated? where record.revocationPercentage == nil: return .unknown
        default:
            let share = record.revocationPercentage ?? OneTimePurchase.whole
            return .share(min(max(share, 0), OneTimePurchase.whole))
        }
    }
}
