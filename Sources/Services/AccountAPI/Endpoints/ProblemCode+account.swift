package import APIKit
import AppStoreServerAPI
package import AppStoreVerification
import HTTPTypes

extension ProblemCode {
    /// What was handed in does not verify.
    package static func verification(_ code: VerificationCode) -> ProblemCode {
        ProblemCode(
            code.isTransient ? .serviceUnavailable : .badRequest, code.rawValue,
            code.isTransient ? "It cannot be judged now" : "It proves nothing")
    }

    /// verifyReceipt does not vouch for a receipt.
    static func receipt(_ status: ReceiptStatus) -> ProblemCode {
        receiptCodes.first { $0.code == status.name } ?? receiptUnproven
    }

    /// What of verifyReceipt's word is for good.
    static let receiptCodes =
        ReceiptStatus.known.filter { $0 == .malformed || $0.behaviour != .retry && $0 != .valid }
        .map { ProblemCode(.badRequest, $0.name, "It proves nothing") }.sorted { $0.code < $1.code } + [receiptUnproven]
    private static let receiptUnproven = ProblemCode(.badRequest, "receipt_unproven", "It proves nothing")
    /// A receipt that is genuine, and lists nothing.
    static let nothingBought = ProblemCode(.badRequest, "nothing_bought", "The receipt lists no purchase")
    /// Apple is needed, and gives no answer now.
    static let appleAway = ProblemCode(.serviceUnavailable, "apple_unavailable", "Apple does not answer")
    /// The purchase is not known: a renewal info came without its transaction, or not even Apple knows it.
    static let purchaseUnknown = ProblemCode(.badRequest, "purchase_unknown", "The purchase is not known")
    /// All there is to know of the purchase is kept, and makes nothing: its record lacks a kind or a date.
    static let purchaseUnusable = ProblemCode(.badRequest, "purchase_unusable", "It gives nothing")
    /// The catalog does not have the product.
    static let unknownProduct = ProblemCode(.badRequest, "unknown_product", "The product is not known")
    /// What was said beside a signed record is not what it says.
    static let mismatch = ProblemCode(.badRequest, "mismatched_request", "It belongs to something else")
    /// Apple signed the purchase for another account.
    static let otherAccount = ProblemCode(.forbidden, "other_account", "Signed for another account")
    /// Another account has proven the purchase before.
    static let boundElsewhere = ProblemCode(.conflict, "bound_elsewhere", "Bound to another account")
    /// The caller may not ask for this environment.
    static let environmentForbidden = ProblemCode(
        .forbidden, "environment_forbidden", "Not for this account")
    /// The catalog does not have the feature.
    static let unknownFeature = ProblemCode(.notFound, "unknown_feature", "The feature is not known")
    /// The account's tier does not give the feature.
    static let tierRequired = ProblemCode(.forbidden, "tier_required", "Not in this tier")
    /// All that the tier gives was used.
    static let limitReached = ProblemCode(.tooManyRequests, "limit_reached", "The limit is reached")
    /// The account's callers have written too much today.
    static let writeBudget = ProblemCode(
        .tooManyRequests, "write_budget", "The account has written too much today")
    /// The feature is not counted.
    static let notCounted = ProblemCode(.badRequest, "not_counted", "Nobody counts it")
    /// The key stood for something else.
    static let keyReused = ProblemCode(.conflict, "idempotency_key_reused", "The key was used for something else")
    /// The account may not start the app's trial.
    static let trialRefused = ProblemCode(.conflict, "trial_not_eligible", "No trial for this account")
    /// Apple cannot be asked.
    static let noRefresh = ProblemCode(.serviceUnavailable, "no_apple_key", "Apple cannot be asked")
}
