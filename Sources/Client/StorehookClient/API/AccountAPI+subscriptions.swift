extension AccountAPI {
    /// What the account has (`GET /v1/subscriptions/status`).
    public func status() async throws -> SubscriptionStatus { try await answeredStatus().value }

    /// The same, after the server has asked Apple (`POST /v1/subscriptions/refresh`): at most so often an account.
    public func refresh() async throws -> SubscriptionStatus {
        try await post("v1/subscriptions/refresh", NoMembers()).value
    }

    /// Hands in a purchase, as the store signed it (`POST /v1/subscriptions/verify`).
    /// - Parameters:
    ///   - signedTransactionInfo: the transaction (compact JWS).
    ///   - signedRenewalInfo: the renewal info of its subscription, where the app has it.
    public func verify(_ signedTransactionInfo: String, signedRenewalInfo: String? = nil) async throws -> Verification {
        try await answeredVerification(signedTransactionInfo, signedRenewalInfo).value
    }

    /// Hands in all that a device holds, or without it has the server refresh what the account has
    /// (`POST /v1/subscriptions/restore`).
    /// - Parameter signedTransactions: the transactions (compact JWS).
    public func restore(_ signedTransactions: [String] = []) async throws -> Restoration {
        try await answeredRestoration(signedTransactions).value
    }

    /// Whether the account may have the app's own trial (`GET /v1/subscriptions/trial/eligibility`).
    public func trialEligibility() async throws -> TrialEligibility {
        try await get("v1/subscriptions/trial/eligibility").value
    }

    /// How the account's trial stands (`GET /v1/subscriptions/trial/status`).
    public func trialStatus() async throws -> TrialStatus { try await get("v1/subscriptions/trial/status").value }

    /// Starts the app's own trial (`POST /v1/subscriptions/trial/start`).
    /// - Parameters:
    ///   - productID: the product that the customer chose, where the trial is of several.
    ///   - signedAppTransactionInfo: the app's download as the store signed it, so that one download has one trial.
    public func startTrial(_ productID: String? = nil, signedAppTransactionInfo: String? = nil) async throws
        -> TrialStatus
    {
        struct Body: Encodable { var productId, signedAppTransactionInfo: String? }
        return try await post(
            "v1/subscriptions/trial/start",
            Body(productId: productID, signedAppTransactionInfo: signedAppTransactionInfo)
        ).value
    }

    func answeredStatus() async throws -> Answered<SubscriptionStatus> { try await get("v1/subscriptions/status") }

    func answeredVerification(_ transaction: String, _ renewal: String?) async throws -> Answered<Verification> {
        struct Body: Encodable {
            var signedTransactionInfo: String
            var signedRenewalInfo: String?
        }
        return try await post(
            "v1/subscriptions/verify", Body(signedTransactionInfo: transaction, signedRenewalInfo: renewal))
    }

    func answeredRestoration(_ transactions: [String]) async throws -> Answered<Restoration> {
        struct Body: Encodable { var signedTransactions: [String]? }
        return try await post(
            "v1/subscriptions/restore", Body(signedTransactions: transactions.isEmpty ? nil : transactions))
    }

    private struct NoMembers: Encodable {}
}
