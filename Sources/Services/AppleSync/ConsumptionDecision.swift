import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base

/// What is to be done about a request of Apple's for consumption data, by what was known when it was claimed. Pure: what is sent
/// is decided once more, by the database, when it is begun.
enum ConsumptionDecision: Sendable, Hashable {
    /// Send Apple this answer, by this rule.
    case send(ConsumptionAnswer, rule: String)
    /// Not now: something may come until the deadline.
    case wait(ConsumptionReason)
    /// Not at all.
    case leave(ConsumptionReason)

    init(_ request: ConsumptionRequest, by policy: ConsumptionPolicy) {
        guard request.transactionID != nil, request.isTransactionKnown else {
            self = .wait(.noTransaction)
            return
        }
        guard request.isPurchased else {
            self = .leave(.notPurchased)
            return
        }
        // What staff decided goes before the policy, and never takes the place of the consent.
        if let refund = request.refund {
            if refund.word != .pending {
                var rule: ConsumptionAnswer?
                if case .answer(let answer)? = policy.rule(for: request.subject)?.verdict { rule = answer }
                self.init(request, refund.answer(upon: rule, for: request.subject.type), rule: refund.text)
                return
            }
            guard request.timeLeft <= RefundDecision.patience else {
                self = .wait(.refundPending)
                return
            }
        }
        // Before the consent: what is left to Apple needs none, and customers must not be asked for it in vain.
        guard let rule = policy.rule(for: request.subject) else {
            self = .wait(.noRule)
            return
        }
        guard case .answer(let answer) = rule.verdict else {
            self = .leave(.leftToApple)
            return
        }
        self.init(request, answer, rule: rule.name.map { "\(rule.number) \($0)" } ?? "\(rule.number)")
    }

    /// What is to be done with an answer.
    private init(_ request: ConsumptionRequest, _ answer: ConsumptionAnswer, rule: String) {
        guard answer.informationWithConsent.fault(for: request.subject.type) == nil else {
            self = .wait(.unfitAnswer)
            return
        }
        guard request.consent == true else {
            self =
                request.consent == false
                ? .wait(.consentWithdrawn) : .wait(request.hasAccount ? .noConsent : .noAccount)
            return
        }
        self = .send(answer, rule: rule)
    }
}
