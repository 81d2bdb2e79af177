public import Base

extension RefundRequest {
    /// The request as it stood at an instant, by the dates of its changes; nil before it was made.
    ///
    /// Amounts are as they are known now: Apple may have stated a part later that it had refunded then.
    /// - Parameters:
    ///   - appleHeardAt: when Apple's refund was heard of; nil where nothing says it. What ended or overtook the request says it as well.
    ///   - reversalHeardAt: the same of the reversal.
    public func standing(
        at instant: Timestamp, appleHeardAt: Timestamp? = nil, reversalHeardAt: Timestamp? = nil
    ) -> RefundRequest? {
        guard createdAt <= instant else { return nil }
        var then = self
        let isDecided = decidedAt.map { $0 <= instant } ?? false
        let isProcessed = processedAt.map { $0 <= instant } ?? false
        if !isProcessed {
            (then.processedAt, then.elsewhere) = (nil, nil)
            if state == .processed { then.state = .approved }
        }
        if !isDecided {
            (then.state, then.approved, then.isWhole) = (.pending, nil, false)
            (then.decider, then.decidedAt) = (nil, nil)
        }
        let isByApple = isDecided && decider == Self.apple || isProcessed && elsewhere == nil
        if !isByApple, appleHeardAt.map({ $0 > instant }) ?? true {
            (then.refundedByApple, then.reversedAt) = (nil, nil)
        } else if reversalHeardAt.map({ $0 > instant }) ?? true {
            then.reversedAt = nil
        }
        return then
    }
}
