import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
import Base
import EvidenceStore
import HTTPTypes
import Logging
import Pipeline
import PurchaseStore
import Subscriptions

extension AccountHandlers {
    /// What proving came to, in the transaction that stored and applied it.
    struct Proven: Sendable {
        /// What was handed in.
        var records: [HandedIn]
        /// What became of each.
        var answers: [IntakeAnswer]
        var outcomes: [PurchaseKey: BindOutcome]
    }

    /// Takes in what an account hands in, and binds the purchases that are free to it, all in one transaction. Only a
    /// transaction proves which account a purchase belongs to: a renewal info describes a purchase, but binds it to no
    /// account.
    /// - Parameters:
    ///   - isAllOrNothing: keep nothing where one of them does not hold.
    ///   - deadline: when waiting for Apple ends.
    ///   - check: throws where nothing of it is to be kept.
    func prove(
        _ records: [HandedIn], by caller: Caller, isAllOrNothing: Bool = false, until deadline: ContinuousClock.Instant,
        checking check: @escaping @Sendable ([TakenEvidence]) throws -> Void
    ) async throws -> Proven {
        let rule = rule
        let (answers, applied) = try await APIProblem.withinBudget {
            try await intake.take(
                records, isAllOrNothing: isAllOrNothing, until: deadline, paidBy: caller.token
            ) { transaction, _ in
                try check(transaction.taken)
                return .proven(transaction.provenPurchases, account: caller.account, rule: rule)
            }
        }
        change(caller, applied)
        log.noteHandedIn(records, answers, applied?.bindings ?? [:], by: caller, accounts.remembered)
        return Proven(records: records, answers: answers, outcomes: applied?.bindings ?? [:])
    }

    /// Lets this process's guard read the accounts again that a proof has changed.
    func change(_ caller: Caller, _ applied: EvidencePipeline.Applied?) {
        for account in Set(applied?.settled.changed ?? []).union([caller.token]) { onChange(account) }
    }

    /// The account of a request, and the account in the environment of what it has proven, once that counts.
    func readAccounts(
        _ request: AccountRequest, in environment: String, countingFrom due: Timestamp?,
        orSoon begins: [Timestamp] = []
    ) async throws -> (account: ReadAccount, here: ReadAccount) {
        let caller = try request.requireCaller()
        return try await read(countingFrom: due, orSoon: begins) {
            let account = try await readAccount(request)
            let here = try await readAccount(caller, in: environment, request, having: account)
            return ((account, here), min(account.view.instant, here.view.instant))
        }
    }

    /// `POST …/verify`: one purchase.
    func verify(_ request: AccountRequest, _ shape: (VerifyAnswer, Reader) -> JSONValue) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        guard let body = request.body, let text = body.string("signedTransactionInfo") else {
            if let receipt = Self.receipt(in: request.body) {
                return try await verify(receipt: receipt, request, shape)
            }
            throw APIProblem(
                .invalidRequest,
                ProblemText(
                    "signedTransactionInfo or receiptData is missing", "缺少 signedTransactionInfo 或 receiptData",
                    "缺少 signedTransactionInfo 或 receiptData"))
        }
        var records = [HandedIn(.transaction, text)]
        if let renewal = body.string("signedRenewalInfo") { records.append(HandedIn(.renewal, renewal)) }
        let claimed = ClaimedPurchase(body)
        try requireEnvironment(request)
        let proven = try await prove(
            records, by: caller, isAllOrNothing: true, until: .now + Self.patience
        ) { taken in
            guard Set(taken.map(\.purchase)).count <= 1 else {
                throw APIProblem(
                    .verification(.mismatchedParts),
                    ProblemText(
                        "the renewal info is of another purchase: send the one of this transaction, or none",
                        "续订信息属于另一笔购买：请发送此交易的续订信息，或不发送", "續訂資訊屬於另一筆購買：請傳送此交易的續訂資訊，或不傳送"))
            }
            if let problem = claimed.mismatch(with: taken.compactMap(\.transaction)) { throw problem }
        }
        let taken = try proven.answers.map { try Self.taken($0, of: proven.records) }
        guard let transaction = taken.first?.transaction, let purchase = taken.first?.purchase else {
            throw APIProblem(
                .verification(.malformedPayload), ProblemText("it is no transaction", "这不是一笔交易", "這不是一筆交易"))
        }
        let metadata: Logger.Metadata = [
            "original_transaction_id": "\(purchase.originalTransactionID)", "environment": "\(purchase.environment)",
            "result": "\(taken[0].outcome.rawValue)", "binding": "\(proven.outcomes[purchase]?.rawValue ?? "none")",
        ]
        if let problem = Self.problem(proven.outcomes[purchase], metadata) { throw problem }
        let (account, here) = try await readAccounts(
            request, in: purchase.environment, countingFrom: taken.countsFrom)
        guard here.reader.catalog.product(transaction.productId ?? "", of: purchase.bundleID) != nil else {
            throw APIProblem(
                .unknownProduct, .unsoldProduct,
                log: metadata)
        }
        let line = here.view.purchases.first { $0.key.originalTransactionID == purchase.originalTransactionID }
        return APIAnswer(
            .ok,
            shape(
                VerifyAnswer(
                    line, of: account.view, isShown: line != nil || !transaction.isAlwaysShown,
                    countsSandbox: sandbox.includes(caller.account)),
                account.reader),
            log: metadata.merging(["tier": "\(account.view.current.tier)"]) { _, new in new })
    }

    /// `POST …/restore`: all that a device holds. If nothing is handed in, Apple is asked about what is bound already.
    ///
    /// Each proof counts by itself, as a device's receipt is often older than the transaction sent with it: the account
    /// gets what a signed transaction proves even if the receipt is refused, and a claim has to be true of one of both.
    /// - Parameter isAllOrNothing: whether to throw where nothing is the account's, for answers that do not list each
    ///   proof.
    func restore(
        _ request: AccountRequest, isAllOrNothing: Bool = false, _ shape: (RestoreAnswer, Reader) -> JSONValue
    ) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        try requireEnvironment(request)
        let texts =
            (request.body?.strings("signedTransactions") ?? [])
            + (request.body?.string("signedTransactionInfo").map { [$0] } ?? [])
        let receipt = Self.receipt(in: request.body)
        let trouble = texts.isEmpty && receipt == nil ? try await refreshIfPossible(caller) : [:]
        let deadline = ContinuousClock.now + Self.patience
        let proven = try await prove(texts.map { HandedIn(.transaction, $0) }, by: caller, until: deadline) { _ in }
        let (fromReceipt, refusal) = try await prove(
            receipt, beside: proven, claiming: ClaimedPurchase(request.body), by: caller, until: deadline)
        let dates = proven.answers.compactMap { $0.taken?.countsFrom } + [fromReceipt?.countsFrom].compactMap(\.self)
        let (account, reached) = try await readAccount(request, countingFrom: dates + (fromReceipt?.begins ?? []))
        var items = zip(proven.records, proven.answers).map { record, answer in
            item(answer, of: record, proven, account.reader.catalog).counting(answer.taken?.countsFrom, by: reached)
        }
        if let fromReceipt {
            items += self.items(fromReceipt, account.reader).map { $0.counting(fromReceipt.countsFrom, by: reached) }
        }
        let isRead = try await isRead(items, request, account)
        if let refusal { items.append(.init(refusing: refusal)) }
        if isAllOrNothing {
            try Self.requireOne(of: items, proven, fromReceipt, refusal)
            if !items.contains(where: \.fate.isOwn), let late = dates.filter({ $0 > reached }).min() {
                throw Self.clockBehind(late.milliseconds(since: reached))
            }
        }
        // A purchase that was moved to another account or erased since it was proven is not in the answer.
        let wasProven = items.contains(where: \.fate.isOwn)
        for place in isRead.indices where !isRead[place] && isAlwaysShown(place, proven, fromReceipt, account.reader) {
            items[place].refuse(Self.overtaken)
        }
        if isAllOrNothing, wasProven, !items.contains(where: \.fate.isOwn) { throw Self.overtaken }
        let counts = Dictionary(grouping: items, by: \.fate).mapValues(\.count)
        return APIAnswer(
            .ok, shape(RestoreAnswer(items, of: account.view), account.reader),
            log: (fromReceipt?.log ?? refusal?.log ?? trouble).merging(
                ["results": "\(counts.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", "))"]
            ) { _, new in new })
    }

    /// For each item that is the account's whether a read of the account shows its purchase; true for all others.
    private func isRead(
        _ items: [RestoreAnswer.Item], _ request: AccountRequest, _ account: ReadAccount
    ) async throws -> [Bool] {
        let caller = try request.requireCaller()
        var shown: [String: Set<String>] = [:]
        for environment in Set(items.filter(\.fate.isOwn).compactMap(\.environment)) {
            let here = try await readAccount(caller, in: environment, request, having: account)
            shown[environment] = Set(here.view.purchases.map(\.key.originalTransactionID))
        }
        return items.map { item in
            guard item.fate.isOwn, let original = item.originalTransactionID else { return true }
            return shown[item.environment ?? account.view.environment]?.contains(original) ?? true
        }
    }

    /// Whether a read shows the purchase of an item in any case. Signed transactions come before what a receipt lists.
    private func isAlwaysShown(
        _ place: Int, _ proven: Proven, _ fromReceipt: ProvenReceipt?, _ reader: Reader
    ) -> Bool {
        if place < proven.answers.count {
            return proven.answers[place].taken?.transaction?.isAlwaysShown ?? false
        }
        guard let finding = fromReceipt?.finding else { return false }
        let purchases = finding.purchases.dropFirst(place - proven.answers.count)
        return purchases.first.map { isAlwaysShown($0, finding, reader.catalog) } ?? false
    }

    private static var overtaken: APIProblem {
        APIProblem.unavailable(
            ProblemText(
                "the account was changed meanwhile; hand it in again", "账号在此期间有变动，请重新提交", "帳號在此期間有變動，請重新提交"))
    }

    /// The account of a request, once all that counts soon counts.
    /// - Parameter dates: from when on each proof counts. Those that the database's clock is too far behind are not waited for.
    /// - Returns: also the instant that was reached: what counts later does not count yet.
    private func readAccount(
        _ request: AccountRequest, countingFrom dates: [Timestamp]
    ) async throws -> (ReadAccount, Timestamp) {
        let first = try await readAccount(request)
        let soon = first.view.instant.adding(milliseconds: Self.milliseconds(Self.clockPatience))
        guard let due = dates.filter({ $0 <= soon }).max(), due > first.view.instant else {
            return (first, first.view.instant)
        }
        return try await read(countingFrom: due) {
            let account = try await readAccount(request)
            return ((account, account.view.instant), account.view.instant)
        }
    }

    /// A receipt that comes beside signed transactions.
    /// - Returns: what it proves; or why it proves nothing, where one of the transactions does.
    /// - Throws: ``APIProblem`` where nothing proves anything.
    private func prove(
        _ receipt: String?, beside proven: Proven, claiming claimed: ClaimedPurchase, by caller: Caller,
        until deadline: ContinuousClock.Instant
    ) async throws -> (ProvenReceipt?, refusal: APIProblem?) {
        guard let receipt else { return (nil, nil) }
        let transactions = proven.answers.compactMap { $0.taken?.transaction }
        do {
            let rest = transactions.contains(where: claimed.isTrue(of:)) ? ClaimedPurchase() : claimed
            return (try await prove(receipt: receipt, claiming: rest, by: caller, until: deadline), nil)
        } catch let problem as APIProblem where !transactions.isEmpty {
            return (nil, problem)
        }
    }

    /// Refuses what was handed in where nothing of it is the account's.
    /// - Parameter unproven: why the receipt proved nothing.
    private static func requireOne(
        of items: [RestoreAnswer.Item], _ proven: Proven, _ fromReceipt: ProvenReceipt?, _ unproven: APIProblem?
    ) throws {
        guard !items.isEmpty, !items.contains(where: { $0.fate.isOwn || $0.fate == .unknownProduct }) else { return }
        // A retry may succeed: a client that heard only about the other proof would not retry.
        if let unproven, unproven.code.status != .badRequest { throw unproven }
        if let fromReceipt, !fromReceipt.finding.purchases.isEmpty {
            throw refusal(of: fromReceipt.finding.purchases, fromReceipt)
        }
        for (record, answer) in zip(proven.records, proven.answers) {
            let evidence = try taken(answer, of: [record])
            if let problem = evidence.purchase.flatMap({ Self.problem(proven.outcomes[$0], [:]) }) { throw problem }
        }
    }

    /// Asks Apple about the bound purchases, if there is a key and Apple was not asked just now; then what is known is
    /// as good. While Apple is unavailable, the app gets what is known, and a worker asks for the rest. An account whose budget is used up
    /// gets what is known, too.
    /// - Returns: metadata for the log.
    private func refreshIfPossible(_ caller: Caller) async throws -> Logger.Metadata {
        guard refresh != nil, refreshes.refusal(of: caller.token.description) == nil else { return [:] }
        do {
            try await refresh(caller)
            return [:]
        } catch let problem as APIProblem where [.appleAway, .writeBudget].contains(problem.code) {
            return problem.log
        }
    }

    private func item(
        _ answer: IntakeAnswer, of record: HandedIn, _ proven: Proven, _ catalog: Catalog
    ) -> RestoreAnswer.Item {
        switch answer {
        case .refused(let code, let message):
            return .init(
                .invalid, code: code.rawValue, message: ProblemText(message, of: code, handedIn: [record]))
        case .undecided(let reason):
            return .init(
                .undecided, code: reason.rawValue, message: .undecided("It cannot be judged now: hand it in again."))
        case .taken(let evidence):
            guard let purchase = evidence.purchase else { return .init(.noted) }
            var item = RestoreAnswer.Item(
                .noted, originalTransactionID: purchase.originalTransactionID,
                productID: evidence.transaction?.productId, environment: purchase.environment)
            item.fate = Self.fate(proven.outcomes[purchase])
            if item.fate.isOwn, catalog.product(item.productID ?? "", of: purchase.bundleID) == nil {
                item.fate = .unknownProduct
            }
            if !item.fate.isOwn { item.code = item.fate.rawValue }
            if proven.outcomes[purchase] == nil, evidence.transaction != nil {
                item.refuse(Self.unusable([:]))
            }
            return item
        }
    }

    /// What an outcome is called in the answer to a restore.
    static func fate(_ outcome: BindOutcome?) -> RestoreAnswer.Fate {
        switch outcome {
        case .bound: .restored
        case .already: .known
        case .transferred: .transferred
        case .otherAccountsToken: .otherAccount
        case .boundElsewhere: .boundElsewhere
        case nil: .undecided
        }
    }

    /// What was taken.
    /// - Throws: ``APIProblem`` where it was not: 400 with the code of verification, 503 where that may pass.
    /// - Parameter records: all that were handed in.
    static func taken(_ answer: IntakeAnswer?, of records: [HandedIn]) throws(APIProblem) -> TakenEvidence {
        switch answer {
        case .taken(let evidence): return evidence
        case .refused(let code, let message):
            throw APIProblem(
                .verification(code), ProblemText(message, of: code, handedIn: records),
                log: ["result": "\(code.rawValue)"])
        case .undecided(.verification(let code)):
            throw APIProblem(
                .verification(code), .undecided("it cannot be judged now; hand it in again"),
                headers: [.retryAfter: "30"],
                log: ["result": "\(code.rawValue)"])
        case .undecided(.purchaseUnknown):
            throw APIProblem(
                .purchaseUnknown,
                ProblemText(
                    "hand the renewal info in with its transaction", "请将续订信息与其交易一并提交", "請將續訂資訊與其交易一併提交"))
        case .undecided, nil: throw APIProblem.unavailable(.undecided("it cannot be judged at the moment"))
        }
    }

    static func problem(_ outcome: BindOutcome?, _ metadata: Logger.Metadata) -> APIProblem? {
        switch outcome {
        case .bound, .already, .transferred: nil
        case .otherAccountsToken:
            APIProblem(
                .otherAccount,
                ProblemText(
                    "Apple signed this purchase for another account: log in as the account that bought it",
                    "交易不属于当前用户", "交易不屬於目前使用者"), log: metadata)
        case .boundElsewhere:
            APIProblem(
                .boundElsewhere,
                ProblemText(
                    "another account has proven this purchase before: log in as that account; where STOREHOOK_RESTORE is transfer, "
                        + "restoring it here may move it",
                    "此购买已绑定到其他账号", "此購買已綁定到其他帳號"),
                log: metadata)
        case nil: unusable(metadata)
        }
    }

    /// A purchase whose evidence is kept, and from which nothing is derived. Handed in again it would be no other.
    static func unusable(_ metadata: Logger.Metadata) -> APIProblem {
        APIProblem(
            .purchaseUnusable,
            ProblemText(
                "what Apple says of the purchase is kept, and gives nothing: a kind or a date is missing",
                "Apple 对此购买的说明已保存，但缺少类型或日期，无法授予任何权益", "Apple 對此購買的說明已保存，但缺少類型或日期，無法授予任何權益"),
            log: metadata)
    }
}

extension TransactionPayload {
    /// Whether a read of its account shows it in any case. Of a consumable no read does, nor of a term whose end is not known.
    fileprivate var isAlwaysShown: Bool { type == .autoRenewableSubscription || type == .nonConsumable }
}

extension RestoreAnswer.Item {
    /// The item, by an account that was read at an instant: what counts later only is to be handed in again.
    fileprivate func counting(_ due: Timestamp?, by instant: Timestamp) -> Self {
        guard let due, due > instant, fate.isOwn else { return self }
        var item = self
        item.fate = .undecided
        item.code = VerificationCode.signedInFuture.rawValue
        item.message = .clockBehind("A clock here is behind Apple's: hand it in again.")
        return item
    }
}
