public import AppStorePayloads
public import Subscriptions

/// What a request of the staff's for a refund says to Apple's request for consumption data about the same transaction: before the
/// policy does, and with the customer's consent as ever.
public struct RefundDecision: Sendable, Hashable {
    /// What was decided.
    public enum Word: Sendable, Hashable {
        /// Nothing so far.
        case pending
        /// Not to refund.
        case decline
        /// To refund all that is left.
        case grantFull
        /// To refund a part; the rest of the price counts as used, in thousandths of a percent. Apple decides the amount.
        case grantPart(used: Int64)
    }

    /// How long before its deadline a request of Apple's is answered by the policy, where staff have not decided.
    public static let patience = Duration.seconds(2 * 3600)
    /// For how long after it a decision counts for requests of Apple's.
    public static let days: Int64 = 90

    /// The request.
    public var number: RefundNumber
    /// What was decided.
    public var word: Word
    /// The type of the request.
    public var kind: RefundRequest.Kind

    /// What a request says; nil where it says nothing: it was taken back, or what was approved was refunded elsewhere.
    /// - Parameter price: of the transaction, in thousandths of its currency.
    public init?(_ number: RefundNumber, _ request: RefundRequest, price: Int64) {
        switch request.state {
        case .pending: word = .pending
        case .rejected: word = .decline
        case .cancelled: return nil
        case .processed where request.elsewhere != nil: return nil
        case .approved, .processed:
            if request.kind == .full && request.isWhole {
                word = .grantFull
            } else {
                word = .grantPart(used: Self.used(of: price, approved: request.approved ?? 0, request.before.refunded))
            }
        }
        self.number = number
        kind = request.kind
    }

    /// What is neither approved nor refunded before, as a share of the price: at least one thousandth of a percent, for Apple takes no
    /// proration of what was not used.
    private static func used(of price: Int64, approved: Int64, _ refunded: Int64) -> Int64 {
        let kept = max(0, price - approved - refunded)
        guard price > 0, kept < price else { return 100_000 }
        let whole = UInt64(kept).multipliedFullWidth(by: 100_000)
        let (share, rest) = UInt64(price).dividingFullWidth(whole)
        return max(1, Int64(share) + (rest >= UInt64(price) - rest ? 1 : 0))
    }

    /// The answer to Apple.
    /// - Parameters:
    ///   - rule: the policy's answer, if it has one: what was delivered and could be tried it knows.
    ///   - type: the product's kind.
    public func answer(upon rule: ConsumptionAnswer?, for type: ProductType?) -> ConsumptionAnswer {
        var answer = rule ?? ConsumptionAnswer(deliveryStatus: .delivered, sampleContentProvided: false)
        switch word {
        case .pending: break
        case .decline: answer.refundPreference = .decline
        case .grantFull: answer.refundPreference = .grantFull
        case .grantPart(let used):
            answer.refundPreference = .grantProrated
            // Apple prorates a subscription by time, and takes no share used of what was not delivered.
            if type == .autoRenewableSubscription {
                answer.consumptionPercentage = nil
            } else {
                (answer.deliveryStatus, answer.consumptionPercentage) = (.delivered, used)
            }
        }
        return answer
    }

    /// What stands beside the answer in place of a rule of the policy, for people.
    public var text: String {
        switch word {
        case .pending: "\(number) pending"
        case .decline: "\(number) rejected"
        case .grantFull: "\(number) approved, full"
        case .grantPart: "\(number) approved, \(kind == .full ? "a part" : kind.rawValue): Apple decides the amount"
        }
    }
}
