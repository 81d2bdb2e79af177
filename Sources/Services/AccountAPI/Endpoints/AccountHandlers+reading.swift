import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import Base
import HTTPTypes
import Logging
import Pipeline
import Subscriptions

extension AccountHandlers {
    /// Answers a shape of the account as it is.
    /// - Parameter isNaming: whether it hands out the token to buy with.
    func read(
        _ request: AccountRequest, _ shape: AccountShape<AccountView>, naming isNaming: Bool = false
    ) async throws -> APIAnswer {
        let account = try await readAccount(request, naming: isNaming)
        return APIAnswer(.ok, shape.value(of: account.view, for: account.reader))
    }

    /// Asks Apple, then answers a shape of the account as it is.
    func refreshed(_ request: AccountRequest, _ shape: AccountShape<AccountView>) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        try requireEnvironment(request)
        guard refresh != nil else { throw Self.nobodyToAsk }
        try limit(
            refreshes, caller, ProblemText("this account was refreshed just now", "此账号刚刚刷新过", "此帳號剛剛重新整理過"))
        try await refresh(caller)
        return try await read(request, shape)
    }

    /// Whether the account may start the app's own trial: the rules of the catalog and of what it has had.
    func eligibility(_ account: ReadAccount, _ caller: Caller) async throws -> TrialEligibility {
        guard account.reader.catalog.trial != nil else { return .refused(.notOffered) }
        if account.view.trial != nil { return .refused(.used) }
        if try await accounts.hadTrial(caller.account) { return .refused(.used) }
        let bought = account.view.purchases.filter { $0.oneTime != .consumable }
        if bought.contains(where: \.givesAccess) { return .refused(.subscribed) }
        return bought.isEmpty ? .eligible : .refused(.paidBefore)
    }

    func trialEligibility(_ request: AccountRequest) async throws -> APIAnswer {
        let (account, caller) = try await production(request)
        return APIAnswer(
            .ok,
            TrialAnswers.eligibility.value(of: try await eligibility(account, caller), for: account.reader))
    }

    func startTrial(_ request: AccountRequest, _ shape: AccountShape<AccountView>) async throws -> APIAnswer {
        let (account, caller) = try await production(request)
        if Self.isUnderWay(in: account, request) { return Self.trialAnswer(account, shape) }
        let eligibility = try await eligibility(account, caller)
        guard eligibility.isEligible else { throw refusal(eligibility.reason ?? .notOffered, caller) }
        var product: String?
        if let named = request.body?.string("productId") {
            guard let known = account.reader.catalog.products.first(where: { $0.productID == named || $0.id == named })
            else { throw APIProblem(.unknownProduct, .unknownProduct) }
            product = known.id
        }
        let download = try await appTransactionID(request)
        switch try await pipeline.startTrial(of: caller.account, with: product, appTransactionID: download) {
        case .started: break
        case .hadOne:
            // The same start may have been sent twice at once.
            let (account, _) = try await production(request)
            if Self.isUnderWay(in: account, request) { return Self.trialAnswer(account, shape) }
            throw refusal(download == nil ? .used : .usedOnDevice, caller)
        case .notOffered: throw refusal(.notOffered, caller)
        }
        let started = try await self.readAccount(caller, in: Environment.production.rawValue, request)
        log.note(
            "Started the trial", of: caller,
            [
                "tier": "\(started.view.trial?.tier ?? "")",
                "ends": "\(started.view.trial?.endsAt.description ?? "")",
                "product": "\(product ?? "none")",
            ])
        return Self.trialAnswer(started, shape)
    }

    /// Whether the requested start has been done and still lasts: the client may have missed the answer, and a repeat
    /// asks for nothing more. With another product it is another start.
    private static func isUnderWay(in account: ReadAccount, _ request: AccountRequest) -> Bool {
        guard let trial = account.view.trial, account.view.instant < trial.endsAt,
            account.view.trialConvertedAt == nil, account.view.current.status != .revoked
        else { return false }
        guard let named = request.body?.string("productId") else { return trial.product == nil }
        return account.reader.catalog.products.contains {
            $0.id == trial.product && ($0.productID == named || $0.id == named)
        }
    }

    private static func trialAnswer(_ account: ReadAccount, _ shape: AccountShape<AccountView>) -> APIAnswer {
        APIAnswer(.ok, shape.value(of: account.view, for: account.reader))
    }

    /// The trial belongs to Production.
    func production(_ request: AccountRequest) async throws -> (ReadAccount, Caller) {
        let caller = try request.requireCaller()
        return (try await readAccount(caller, in: Environment.production.rawValue, request), caller)
    }

    /// The customer's download of the app, where the app proves one.
    private func appTransactionID(_ request: AccountRequest) async throws -> String? {
        guard let text = request.body?.string("signedAppTransactionInfo") else { return nil }
        let payer = try request.requireCaller().token
        let record = HandedIn(.appTransaction, text)
        let (answers, _) = try await APIProblem.withinBudget {
            try await intake.take([record], until: .now + Self.patience, paidBy: payer)
        }
        let taken = try Self.taken(answers.first, of: [record])
        guard case .appTransaction(let payload) = taken.record else { return nil }
        return payload.appTransactionId
    }

    private func refusal(_ reason: TrialEligibility.Reason, _ caller: Caller) -> APIProblem {
        log.note("Refused the trial", of: caller, ["reason": "\(reason.rawValue)"])
        return APIProblem(
            .trialRefused, reason.text,
            members: [.init("reason", .string(reason.rawValue))], log: ["reason": "\(reason.rawValue)"])
    }

    func products(_ request: AccountRequest) async throws -> APIAnswer {
        let (account, caller) = try await production(request)
        let answer = ProductsAnswer(
            account.reader.catalog.productsToShow(), trial: try await eligibility(account, caller),
            introductory: try await introductoryHistory(account))
        return APIAnswer(.ok, answer.value(for: account.reader))
    }

    /// What decides about Apple's introductory offers. Something is read only where the catalog has one and the account a subscription.
    private func introductoryHistory(_ account: ReadAccount) async throws -> IntroductoryHistory {
        let subscriptions = account.view.purchases.filter { $0.oneTime == nil }
        guard !subscriptions.isEmpty, account.reader.catalog.products.contains(where: { $0.introductory != nil }) else {
            return IntroductoryHistory()
        }
        let uses = try await accounts.introductoryUse(of: subscriptions.map(\.key))
        return IntroductoryHistory(
            taken: uses.flatMap(\.taken),
            running: zip(subscriptions, uses).filter { $0.0.access && $0.0.isPaidForHere }.map { subscription, use in
                SubscribedProduct(subscription.productID, of: subscription.key.bundleID, inGroup: use.groupID)
            }, by: account.reader.catalog)
    }

    func emoFlowProducts(_ request: AccountRequest) async throws -> APIAnswer {
        let (account, _) = try await production(request)
        return APIAnswer(
            .ok,
            EmoFlowAnswers.products.value(of: account.reader.catalog.productsToShow(), for: account.reader))
    }
}

extension SubscriptionView {
    /// Whether it is the customer's own, and not shared by the family or assigned. Old payloads do not say it.
    fileprivate var isPaidForHere: Bool { ownership == nil || ownership == OwnershipType.purchased.rawValue }
}
