extension ClientMessage {
    /// What to show of an error, as of ``SubscriptionManager/error``; nil where the customer has cancelled.
    public init?(_ error: ClientError, _ texts: ClientTexts) {
        switch error {
        case .cancelled: return nil
        case .upgradeNeeded(let prompt?): self.init(prompt, .upgrade, texts)
        default: self.init(ClientTrouble(error), texts)
        }
    }
}

extension ClientTrouble {
    init(_ error: ClientError) {
        self =
            switch error {
            case .pending: .pending
            case .network: .network
            case .verificationFailed: .verificationFailed
            case .otherAccount: .otherAccount
            case .signIn: .signIn
            case .busy: .busy
            case .product: .product
            case .trialRefused: .trialRefused
            case .unreadableAnswer: .unreadableAnswer
            case .unreadableCache: .unreadableCache
            case .cancelled, .upgradeNeeded, .unknown: .unknown
            }
    }
}
