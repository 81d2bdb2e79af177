/// What went wrong, as customers have to know it: each kind has its text and what to do.
///
/// A purchase that the customer cancels is none: nothing is shown.
enum ClientTrouble: Sendable, Hashable, CaseIterable {
    /// The server or the store cannot be reached, or does not answer.
    case network
    /// The store's signature, or the server's check of it, failed. The purchase gives nothing.
    case verificationFailed
    /// The purchase waits for approval, as a parent's.
    case pending
    /// The purchase is another account's.
    case otherAccount
    /// The app's token is not accepted any more.
    case signIn
    /// There were too many requests.
    case busy
    /// The store or the catalog does not have the product.
    case product
    /// The account may not start the app's own trial.
    case trialRefused
    /// The server's answer cannot be read: what was last known counts.
    case unreadableAnswer
    /// What was kept on the device cannot be read: the account counts as free until the server or the store is asked.
    case unreadableCache
    /// Anything else.
    case unknown

    var key: TextKey {
        switch self {
        case .network: .errorNetwork
        case .verificationFailed: .errorVerification
        case .pending: .purchasePending
        case .otherAccount: .errorOtherAccount
        case .signIn: .errorSignIn
        case .busy: .errorBusy
        case .product: .errorProduct
        case .trialRefused: .errorTrialRefused
        case .unreadableAnswer: .errorCachedStatus
        case .unreadableCache: .errorFreeUntilRead
        case .unknown: .errorUnknown
        }
    }

    var action: ClientMessage.Action {
        switch self {
        case .network, .busy, .unreadableAnswer, .unreadableCache: .retry
        case .otherAccount, .unknown: .contactSupport
        case .signIn: .signIn
        case .verificationFailed, .pending, .product, .trialRefused: .dismiss
        }
    }
}

extension ClientMessage {
    /// The message of a trouble.
    init(_ trouble: ClientTrouble, _ texts: ClientTexts) { self.init(texts(trouble.key), trouble.action, texts) }

    /// That there was nothing to restore.
    static func nothingToRestore(_ texts: ClientTexts) -> ClientMessage {
        ClientMessage(texts(.restoreNothing), .contactSupport, title: texts(.restoreFailed), texts)
    }
}
