extension AccountAPI {
    /// Which account the token is of, and the token to buy with (`GET /v1/account`).
    public func account() async throws -> Account { try await answeredAccount().value }

    /// What the account may use now (`GET /v1/entitlements`).
    public func entitlements() async throws -> Entitlements { try await get("v1/entitlements").value }

    /// The catalog for a paywall (`GET /v1/products`).
    public func products() async throws -> Catalog { try await get("v1/products").value }

    /// Records or withdraws the customer's consent to tell Apple about use, for refund requests (`PUT /v1/consents/consumption`).
    /// - Parameter text: what the customer agreed to, as it was shown.
    public func setConsumptionConsent(_ granted: Bool, text: String? = nil) async throws -> Consent {
        struct Body: Encodable {
            var granted: Bool
            var text: String?
        }
        return try await put("v1/consents/consumption", Body(granted: granted, text: text)).value
    }

    func answeredAccount() async throws -> Answered<Account> { try await get("v1/account") }
}
