import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppleRecords
import Base
import Foundation
import HTTPTypes
import Logging
import Pipeline
import Staff
import Subscriptions

extension AdminHandlers {
    /// Days more, here or by Apple.
    var extend: AdminEndpoint {
        let withApple = ValueSchema.Property.optional(
            "withApple", .boolean,
            "Whether Apple moves the renewal date, 1 to 90 days, twice a year: then workers ask it, and follow it to its end."
        )
        var endpoint = act(
            "extend", "extendAccount", "Adds days to what gives an account access now.", [Self.days, withApple]
        ) { .extend(days: $0.integer("days") ?? 0) }
        endpoint.successes.append(.init(.accepted, "Apple is going to be asked.", Self.extensionShape.schema))
        endpoint.problems += [.noSubscription, .extensionUnderWay]
        endpoint.refusesFitting = Self.argued + ", and by Apple days are at most 90 and there is no dry run"
        let local = endpoint.answer
        endpoint.answer = { request in
            let body = try Self.body(request)
            guard body.bool("withApple") == true else { return try await local(request) }
            guard body.bool("dryRun") != true else {
                throw APIProblem(
                    .invalidRequest, "what Apple makes of it is known when it is asked: there is no dry run")
            }
            return try await extendByApple(request)
        }
        return endpoint
    }

    /// A tier for some days.
    var grant: AdminEndpoint {
        act("grant", "grantTier", "Gives an account a tier for some days.", [Self.tier, Self.days]) {
            .grant(tier: $0.string("tier") ?? "", days: $0.integer("days") ?? 0)
        }
    }

    /// An end to all that gives access.
    var revoke: AdminEndpoint {
        act("revoke", "revokeAccess", "Ends all that gives an account access now. No money moves.", []) { _ in .revoke }
    }

    /// An end to a block.
    var unrevoke: AdminEndpoint {
        act("unrevoke", "unrevokeAccess", "Lifts an account's blocks.", []) { _ in .unrevoke }
    }

    /// Another tier.
    var changeTier: AdminEndpoint {
        act(
            "change-tier", "changeTier", "Gives an account another tier until what gives it access now ends.",
            [Self.tier]
        ) { .changeTier(to: $0.string("tier") ?? "") }
    }

    private func act(
        _ part: String, _ name: String, _ summary: String, _ members: [ValueSchema.Property],
        _ kind: @escaping @Sendable (JSONObject) -> StaffAct.Kind
    ) -> AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/subscriptions/{account}/\(part)", name, summary, for: .staff,
            successes: [.init("It is done, and on record.", AdminShapes.done.schema)]
        ) { request in
            let body = try Self.body(request)
            let kind = kind(body)
            let member = try await member(request, for: kind.task)
            let reason = try Self.reason(body)
            let account = try await accountOfPath(request)
            do {
                guard body.bool("dryRun") != true else {
                    let would = try await pipeline.rehearse(kind, for: account)
                    return APIAnswer(.ok, AdminShapes.done.value(of: DoneAct(account, would, isDone: false)))
                }
                let done = try await pipeline.act(kind, for: account, by: member.actor, why: reason)
                return APIAnswer(
                    .ok, AdminShapes.done.value(of: DoneAct(account, done)),
                    log: ["app_account_token": "\(account.token)", "act": "\(kind.name)", "number": "\(done.act.id)"])
            } catch let refusal as ActRefusal { throw refusal.problem }
        }
        endpoint.pathSchemas = Self.accountPath
        endpoint.body = Self.body(name.prefix(1).uppercased() + name.dropFirst() + "Request", members + [Self.dryRun])
        endpoint.problems = ProblemCode.acts
        endpoint.refusesFitting = Self.argued + ", and the catalog has the tier"
        endpoint.isLogged = true
        return endpoint
    }

    // MARK: By Apple

    /// Records an extension of the subscription that the account has; workers with the app's key ask Apple.
    private func extendByApple(_ request: AdminRequest) async throws -> APIAnswer {
        let body = try Self.body(request)
        let days = body.integer("days") ?? 0
        let member = try await member(request, for: .extend(days: days))
        let reason = try Self.reason(body)
        guard days <= 90 else { throw APIProblem(.invalidRequest, "Apple moves a renewal date by 90 days at most") }
        let account = try await accountOfPath(request)
        let view = try await accounts.view(account.token, in: Environment.production.rawValue)
        // The purchase of the status comes first, then the purchases by their end, the latest first.
        guard let key = view.purchases.first(where: { $0.oneTime == nil && $0.access })?.key else {
            throw APIProblem(.noSubscription, "the account has no subscription of Apple's that runs now")
        }
        do {
            let id = try await extensions.record(
                RenewalExtensions.Wish(
                    in: AppEnvironment(bundleID: key.bundleID, environment: key.environment),
                    for: .one(originalTransactionID: key.originalTransactionID),
                    requestIdentifier: UUID().uuidString.lowercased(), days: days,
                    reasonCode: ExtendReasonCode.customerSatisfaction.rawValue, by: member.actor, why: reason))
            return APIAnswer(
                .accepted,
                Self.extensionShape.value(of: RequestedExtension(id: id, account: account, purchase: key, days: days)),
                log: ["app_account_token": "\(account.token)", "extension": "\(id)"])
        } catch let conflict as RenewalExtensions.Conflict { throw conflict.problem }
    }

    private struct RequestedExtension: Sendable {
        let id: Int64
        let account: AccountIdentity
        let purchase: PurchaseKey
        let days: Int64
    }

    private static let extensionShape = Shape<RequestedExtension, Void>(
        "RequestedExtension",
        [
            .init("extension", "Its number: storehook extensions show says how it stands.") { $0.id },
            .init("account", "Shortened.") { PersonalText.shortened($0.account.name) },
            .init("appAccountToken") { $0.account.token },
            .init("originalTransactionId") { $0.purchase.originalTransactionID },
            .init("bundleId") { $0.purchase.bundleID }, .init("days") { $0.days },
        ])

    // MARK: Purchases

    /// A purchase to another account.
    var movePurchase: AdminEndpoint {
        var endpoint = AdminEndpoint(
            .post, "/admin/purchases/{originalTransactionId}/move", "movePurchase",
            "Moves a purchase to an account, against the token that Apple signed into it.", for: .staff,
            successes: [.init("It is done, and on record.", Self.moveShape.schema)]
        ) { try await move($0) }
        endpoint.pathSchemas = ["originalTransactionId": .string(.init(1, 255))]
        endpoint.body = Self.body(
            "MovePurchaseRequest",
            [
                .required("environment", Environment.schema, "The purchase's."),
                .required("app", .string(.init(1, 255)), "The purchase's bundle id."),
                .required(
                    "account", .string(.init(1, 1000)), "The new owner: an id, or token: and an appAccountToken."),
                Self.dryRun,
            ])
        endpoint.problems = [.notFound]
        endpoint.refusesFitting = Self.argued + ", and account names one"
        endpoint.isLogged = true
        return endpoint
    }

    private func move(_ request: AdminRequest) async throws -> APIAnswer {
        let body = try Self.body(request)
        let key = PurchaseKey(
            environment: body.string("environment") ?? "", bundleID: body.string("app") ?? "",
            originalTransactionID: request.path["originalTransactionId"] ?? "")
        guard try member(request).scope.sees(app: key.bundleID) else { throw Self.noPurchase }
        let member = try await member(request, for: .movePurchase)
        let reason = try Self.reason(body)
        let account = try await namedAccount(body.string("account") ?? "")
        guard body.bool("dryRun") != true else {
            guard let sides = try await pipeline.rehearseMove(key, to: account) else { throw Self.noPurchase }
            return APIAnswer(.ok, Self.moveShape.value(of: (key, account, sides)))
        }
        guard try await pipeline.move(key, to: account, by: member.actor, why: reason) else { throw Self.noPurchase }
        return APIAnswer(
            .ok, Self.moveShape.value(of: (key, account, [])),
            log: [
                "app_account_token": "\(account.token)", "original_transaction_id": "\(key.originalTransactionID)",
            ])
    }

    private static let noPurchase = APIProblem(.notFound, "no such purchase is known here")

    private static let moveShape = Shape<
        (key: PurchaseKey, account: AccountIdentity, sides: [EvidencePipeline.MovedSide]), Void
    >(
        "MovedPurchase",
        [
            .init("originalTransactionId") { $0.key.originalTransactionID },
            .init("environment", Environment.schema) { .string($0.key.environment) }, .init("app") { $0.key.bundleID },
            .init("account", "Shortened.") { PersonalText.shortened($0.account.name) },
            .init("appAccountToken") { $0.account.token },
            .list(
                "sides", sideShape,
                about:
                    "Of a dry run: the account that has the purchase, where there is one, and the new owner. Else none."
            ) { $0.sides },
        ])

    private static let sideShape = Shape<EvidencePipeline.MovedSide, Void>(
        "MovedSide",
        [
            .init("appAccountToken") { $0.token }, .nested("before", AdminShapes.phase) { $0.before },
            .nested("after", AdminShapes.phase) { $0.after },
        ])
}
