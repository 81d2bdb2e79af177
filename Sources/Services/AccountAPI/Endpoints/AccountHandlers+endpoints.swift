import APIKit
import Accounts
import AppStorePayloads
import AppStoreVerification
import Base
import HTTPTypes
import Logging

extension AccountHandlers {
    /// All paths: `/v1/…`, the same under `/subscriptions/…` and `/usage/…`, and `/subscription/…` in EmoFlow's dialect.
    package var endpoints: [AccountEndpoint] { own + renamed + emoFlow }

    private var own: [AccountEndpoint] {
        subscriptions("/v1/subscriptions", "", .own) + counting("/v1/usage", "", .own, Self.usageBody)
            + [
                account(
                    "/v1/account", "getAccount", "The account, and the appAccountToken to buy with.",
                    AccountShapes.account, naming: true),
                account(
                    "/v1/entitlements", "getEntitlements", "What gives access, and what that opens.",
                    AccountShapes.entitlements),
                endpoint(
                    .get, "/v1/products", "getProducts", "What is sold, for a paywall, and what every tier gives.",
                    ProductsAnswer.schema
                ) {
                    try await products($0)
                },
                features("/v1/features", "getFeatures", FeatureAnswer.list), feature, attempts, profile,
            ]
    }

    /// The paths and words of the Readmigo document.
    private var renamed: [AccountEndpoint] {
        subscriptions("/subscriptions", "Readmigo", .readmigo)
            + counting("/usage", "Readmigo", .readmigo, Self.readmigoUsageBody)
    }

    private func subscriptions(_ root: String, _ suffix: String, _ shapes: AnswerShapes) -> [AccountEndpoint] {
        [
            account(
                root + "/status", "getStatus" + suffix, "Whether the account has access, by what, until when.",
                shapes.status),
            proving(
                root + "/verify", "verify" + suffix,
                "Proves a purchase with what Apple signed; the account has it from then on.",
                Self.verifyBody, shapes.verify.schema
            ) { try await verify($0) { shapes.verify.value(of: $0, for: $1) } },
            proving(
                root + "/restore", "restore" + suffix,
                "The same for all that a device holds; answers for each what became of it.",
                Self.restoreBody, shapes.restore.schema, isOptional: true
            ) { try await restore($0) { shapes.restore.value(of: $0, for: $1) } },
            refreshing(root + "/refresh", "refresh" + suffix, shapes.status),
            endpoint(
                .get, root + "/trial/eligibility", "getTrialEligibility" + suffix,
                "Whether the account may start the app's own trial, and why not.", TrialAnswers.eligibility.schema
            ) { try await trialEligibility($0) },
            account(
                root + "/trial/status", "getTrialStatus" + suffix, "How the account's trial stands.",
                shapes.trial),
            trialStart(root + "/trial/start", "startTrial" + suffix, shapes.trial),
        ]
    }

    /// - Parameter body: what a report looks like.
    private func counting(
        _ root: String, _ suffix: String, _ shapes: AnswerShapes, _ body: ValueSchema
    ) -> [AccountEndpoint] {
        var count = endpoint(
            .post, root + "/{feature}", "countUsage" + suffix,
            "Counts use of a feature, or refuses and counts nothing.", UsageAnswer.shape.schema
        ) { try await self.count($0) }
        count.pathSchemas = ["feature": .string(.init(1, 64))]
        count.refusesFitting =
            "the catalog says what is counted, and in total or by time; usedAt is within the last 35 days"
        count.body = .init(body, isOptional: true, most: 16 << 10)
        count.style = UsageAnswer.problem
        count.problems += [
            .unknownFeature, .tierRequired, .limitReached, .writeBudget, .notCounted, .keyReused, .invalidRequest,
        ]
        return [features(root + "/current", "getUsage" + suffix, shapes.usage), count]
    }

    private var emoFlow: [AccountEndpoint] {
        let all = [
            account("/subscription/status", "getStatusEmoFlow", "As that dialect has it.", EmoFlowAnswers.status),
            proving(
                "/subscription/verify", "verifyEmoFlow", "As that dialect has it.", Self.emoFlowBody,
                EmoFlowAnswers.verify.schema
            ) { try await verify($0) { EmoFlowAnswers.verify.value(of: $0.account, for: $1) } },
            proving(
                "/subscription/restore", "restoreEmoFlow", "As that dialect has it.", Self.emoFlowBody,
                EmoFlowAnswers.restore.schema, isOptional: true
            ) { try await restore($0, isAllOrNothing: true) { EmoFlowAnswers.restore.value(of: $0.account, for: $1) } },
            refreshing("/subscription/refresh", "refreshEmoFlow", EmoFlowAnswers.refresh),
            endpoint(
                .get, "/subscription/products", "getProductsEmoFlow", "As that dialect has it.",
                EmoFlowAnswers.products.schema
            ) { try await emoFlowProducts($0) },
        ]
        return all.map { endpoint in
            var endpoint = endpoint
            endpoint.style = .emoFlow
            return endpoint
        }
    }

    // MARK: Kinds of endpoints

    func endpoint(
        _ method: HTTPRequest.Method, _ path: String, _ name: String, _ summary: String, _ schema: ValueSchema,
        _ answer: @escaping @Sendable (AccountRequest) async throws -> APIAnswer
    ) -> AccountEndpoint {
        AccountEndpoint(method, path, name, summary, for: .account, successes: [.init(summary, schema)], answer)
    }

    /// An endpoint that answers how the account stands.
    private func account(
        _ path: String, _ name: String, _ summary: String, _ shape: AccountShape<AccountView>,
        naming isNaming: Bool = false
    ) -> AccountEndpoint {
        var endpoint = endpoint(.get, path, name, summary, shape.schema) {
            try await read($0, shape, naming: isNaming)
        }
        endpoint.query = [Self.environment]
        endpoint.problems = [.environmentForbidden]
        // It reads the account. That it also keeps the id may fail, and nothing waits for that longer than half a second.
        endpoint.isWatched = true
        return endpoint
    }

    private func refreshing(_ path: String, _ name: String, _ shape: AccountShape<AccountView>) -> AccountEndpoint {
        var endpoint = endpoint(
            .post, path, name, "Asks Apple now about the account's purchases, then answers how it stands.", shape.schema
        ) { try await refreshed($0, shape) }
        endpoint.query = [Self.environment]
        endpoint.problems = [.environmentForbidden, .noRefresh, .appleAway, .writeBudget]
        endpoint.isLogged = true
        return endpoint
    }

    private func proving(
        _ path: String, _ name: String, _ summary: String, _ body: ValueSchema, _ schema: ValueSchema,
        isOptional: Bool = false, _ answer: @escaping @Sendable (AccountRequest) async throws -> APIAnswer
    ) -> AccountEndpoint {
        var endpoint = endpoint(.post, path, name, summary, schema, answer)
        endpoint.body = .init(body, isOptional: isOptional, most: 6 << 20)
        endpoint.query = [Self.environment]
        endpoint.refusesFitting =
            "only what Apple has signed proves anything, for products of the catalog; see the codes"
        endpoint.problems =
            [
                .unknownProduct, .mismatch, .purchaseUnknown, .purchaseUnusable, .otherAccount, .boundElsewhere,
                .environmentForbidden, .writeBudget,
            ]
            + [.nothingBought, .appleAway, .noRefresh] + ProblemCode.receiptCodes
            + VerificationCode.allCases.map { .verification($0) }
        endpoint.isLogged = true
        return endpoint
    }

    private func trialStart(_ path: String, _ name: String, _ shape: AccountShape<AccountView>) -> AccountEndpoint {
        var endpoint = endpoint(
            .post, path, name, "Starts the app's own trial: one an account, for ever.", shape.schema
        ) { try await startTrial($0, shape) }
        // Room for the longest record, and what stands around it.
        endpoint.body = .init(.named("TrialRequest", Self.trialBody), isOptional: true, most: 512 << 10)
        endpoint.refusesFitting = "the product has to be in the catalog, and an app transaction signed by Apple"
        endpoint.style = .problem(
            "TrialProblem", adding: [.optional("reason", TrialEligibility.Reason.schema, "Why, of trial_not_eligible.")]
        )
        endpoint.problems =
            [.trialRefused, .unknownProduct, .writeBudget] + VerificationCode.allCases.map { .verification($0) }
        endpoint.isLogged = true
        return endpoint
    }

    private func features(
        _ path: String, _ name: String, _ shape: AccountShape<(tier: String, features: [FeatureView])>
    ) -> AccountEndpoint {
        var endpoint = endpoint(
            .get, path, name, "What the account may do, and how much of it was used.", shape.schema
        ) { try await features($0, shape) }
        endpoint.query = [Self.environment]
        endpoint.problems = [.environmentForbidden]
        return endpoint
    }

    private var feature: AccountEndpoint {
        var endpoint = endpoint(
            .get, "/v1/features/{feature}", "getFeature", "Whether the account may use a feature.",
            FeatureAnswer.shape.schema
        ) { try await feature($0) }
        endpoint.pathSchemas = ["feature": .string(.init(1, 64))]
        endpoint.query = [Self.environment]
        endpoint.problems = [.unknownFeature, .environmentForbidden]
        return endpoint
    }

    // MARK: What is sent

    private static let signed = ValueSchema.string(.init(1, 262_144))
    /// By name where it stands in a list: a generator of clients makes a type of it.
    private static let signedRecord = ValueSchema.named("SignedRecord", signed)

    /// As long as a body may be.
    private static let receipt = ValueSchema.string(.init(1, 4_194_304))

    private static let verifyBody = ValueSchema.named(
        "VerifyRequest",
        .ruled(
            .object([
                .optional(
                    "signedTransactionInfo", signed,
                    "As StoreKit hands it out: jwsRepresentation. This or receiptData is needed; with both, this counts."
                ),
                .optional("signedRenewalInfo", signed, "Beside signedTransactionInfo: what it says of the renewal."),
                .optional("receiptData", receipt, "The app's receipt in base64, where there is no signed transaction."),
                .optional("productId", .string(.init(1, 255)), "Has to be that of what is handed in."),
                .optional("transactionId", .string(.init(1, 64)), "The same."),
            ]), [.atLeastOne(["signedTransactionInfo", "receiptData"])]))

    private static let restoreBody = ValueSchema.named(
        "RestoreRequest",
        .object([
            .optional("signedTransactions", .array(signedRecord, most: 100)),
            .optional("signedTransactionInfo", signed, "One more."),
            .optional("receiptData", receipt, "The app's receipt in base64."),
            .optional("productId", .string(.init(1, 255))), .optional("transactionId", .string(.init(1, 64))),
        ]))

    private static let trialBody = ValueSchema.object([
        .optional("productId", .string(.init(1, 255)), "The product that it is started with."),
        .optional("signedAppTransactionInfo", signed, "Proves the download: one trial each."),
    ])

    private static let usageMembers: [ValueSchema.Property] = [
        .optional(
            "amount", .integer(1...1_000_000),
            "How much was used; 1 by default. At most one of amount, release and set."),
        .optional(
            "release", .integer(1...1_000_000),
            "How much of a stock was given back, such as saved words that were deleted; only of what is counted in total. Never refused for a limit; no stock falls below 0."
        ),
        .optional(
            "set", .integer(0...1_000_000_000),
            "What a stock is now; only of what is counted in total. Refused where it is more than the limit and more than before."
        ),
        .optional(
            "idempotencyKey", .string(.init(1, 255)),
            "Reports of one key count once: the same again is answered by what was counted then, with duplicate; another report with the key is 409."
        ),
        .optional(
            "usedAt", .time,
            "When it was used, where that was offline: it counts in the day or month of that instant. At most 35 days ago, and not in the future."
        ),
    ]

    private static let usageRule = ValueSchema.Rule.atMostOne(["amount", "release", "set"])

    /// An unknown member is refused: misspelt, it would count 1 of what was meant to be more.
    private static let usageBody = ValueSchema.named(
        "UsageRequest", .ruled(.strict(StrictObject(what: "a report of use", members: usageMembers)), [usageRule]))

    /// The dialects ignore what they do not know, as the backends did whose place they take.
    private static let readmigoUsageBody = ValueSchema.named(
        "ReadmigoUsageRequest", .ruled(.object(usageMembers), [usageRule]))

    /// `password` is that backend's shared secret: it is passed over, and never looked at.
    private static let emoFlowBody = ValueSchema.named(
        "EmoFlowReceipt",
        .object([
            .optional("signedTransactionInfo", signed), .optional("receipt_data", receipt),
            .optional("product_id", .string(.init(1, 255))), .optional("transaction_id", .string(.init(1, 64))),
            .optional("password", .text),
        ]))
}
