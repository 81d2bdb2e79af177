public import Foundation

extension AccountAPI {
    /// What the account may use of every feature (`GET /v1/features`).
    public func features() async throws -> FeatureList { try await get("v1/features").value }

    /// What the account may use of a feature (`GET /v1/features/{feature}`).
    public func feature(_ id: String) async throws -> FeatureAnswer { try await get("v1/features/" + id).value }

    /// What the account has used of all that is counted (`GET /v1/usage/current`).
    public func usage() async throws -> CurrentUsage { try await get("v1/usage/current").value }

    /// Counts a use, or throws a ``Problem`` with `limit_reached` or `tier_required` and counts nothing
    /// (`POST /v1/usage/{feature}`).
    /// - Parameters:
    ///   - amount: how much was used, in the feature's unit: 1 to 1,000,000.
    ///   - feature: the feature's id.
    ///   - idempotencyKey: the same in each try of one report, so that it counts once.
    ///   - usedAt: when it was used; now by default.
    public func report(_ amount: Int64 = 1, of feature: String, idempotencyKey: String? = nil, usedAt: Date? = nil)
        async throws -> CountedUsage
    {
        try await report(.add(amount), of: feature, idempotencyKey: idempotencyKey, usedAt: usedAt)
    }

    /// Reports what an app saw of an attempt to buy or to restore (`POST /v1/purchases`).
    public func report(_ attempt: PurchaseAttempt) async throws {
        struct Body: Encodable {
            var kind: PurchaseAttempt.Kind
            var outcome: PurchaseAttempt.Outcome
            var productId, reason, transactionId: String?
        }
        struct Taken: Decodable {}
        let _: Answered<Taken> = try await post(
            "v1/purchases",
            Body(
                kind: attempt.kind, outcome: attempt.outcome, productId: attempt.productID, reason: attempt.reason,
                transactionId: attempt.transactionID))
    }

    func report(_ act: UsageAct, of feature: String, idempotencyKey: String?, usedAt: Date?) async throws
        -> CountedUsage
    {
        struct Body: Encodable {
            var amount, release, set: Int64?
            var idempotencyKey, usedAt: String?
        }
        var body = Body(idempotencyKey: idempotencyKey, usedAt: usedAt.map(ServerDates.text))
        switch act {
        case .add(let amount): body.amount = amount
        case .release(let amount): body.release = amount
        case .set(let amount): body.set = amount
        }
        return try await post("v1/usage/" + feature, body).value
    }
}
