import APIKit
import AccountStore
import AppStorePayloads
import Base
import HTTPTypes

extension AccountHandlers {
    /// `POST /v1/purchases`
    var attempts: AccountEndpoint {
        var endpoint = endpoint(
            .post, "/v1/purchases", "recordPurchaseAttempt",
            "Takes note of what an app saw of an attempt to buy or to restore. Nothing is decided by it.",
            .named("PurchaseAttempt", .object([.required("success", .boolean)]))
        ) { try await attempt($0) }
        endpoint.body = .init(.named("PurchaseAttemptRequest", Self.attemptBody), most: 16 << 10)
        endpoint.problems = [.writeBudget]
        return endpoint
    }

    private static let product = ValueSchema.string(.init(1, 255))

    private static func outcomes(_ outcomes: [PurchaseAttempt.Outcome]) -> ValueSchema {
        .choice(outcomes.map(\.rawValue))
    }

    private static let attemptBody = ValueSchema.ruled(
        .object([
            .optional("productId", product, "Apple's id of the product. Of a restore it may be missing."),
            .required(
                "outcome", .named("PurchaseAttemptOutcome", outcomes(PurchaseAttempt.Outcome.allCases)),
                "How it ended; nothing is a restore that found nothing to restore."),
            .required("kind", .named("PurchaseAttemptKind", .choice(PurchaseAttempt.Kind.allCases.map(\.rawValue)))),
            .optional("reason", .string(.init(0, 1000))),
            .optional("transactionId", .string(.init(1, 64)), "Apple's id of the transaction that it is about."),
            .optional("environment", Environment.schema, "Where it was made, in Apple's word."),
        ]),
        [
            .also(
                .object([
                    .required("productId", product),
                    .required("outcome", outcomes(PurchaseAttempt.Outcome.allCases.filter { $0 != .nothing })),
                ]), where: "kind", is: PurchaseAttempt.Kind.purchase.rawValue)
        ])

    /// Takes note of what an app saw of an attempt to buy or to restore.
    private func attempt(_ request: AccountRequest) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        guard let body = request.body,
            let outcome = body.string("outcome").flatMap(PurchaseAttempt.Outcome.init(rawValue:)),
            let kind = body.string("kind").flatMap(PurchaseAttempt.Kind.init(rawValue:))
        else { throw APIProblem(.invalidRequest, "outcome or kind is missing") }
        let attempt = PurchaseAttempt(
            account: caller.token, productID: body.string("productId"), kind: kind, outcome: outcome,
            reason: body.string("reason"), transactionID: body.string("transactionId"),
            environment: body.string("environment").map(Environment.init(rawValue:)))
        try await APIProblem.withinBudget { try await accounts.record(attempt) }
        attemptLog.note(attempt, by: caller)
        return APIAnswer(.ok, ["success": true])
    }
}
