import APIKit
import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
import AppleRecords
import Base
import EvidenceStore
import HTTPTypes
import Logging
import Pipeline
import Postgres
import Subscriptions

extension AccountHandlers {
    /// How long a request waits for Apple, all questions together, and those about certificates with them.
    static let patience = Duration.seconds(8)

    /// What a request says beside what it hands in: it has to be true.
    struct ClaimedPurchase: Sendable {
        let product: String?
        let transaction: String?

        /// What a body says; by default, nothing.
        init(_ body: JSONObject? = nil) {
            product = body?.string("productId") ?? body?.string("product_id")
            transaction = body?.string("transactionId") ?? body?.string("transaction_id")
        }

        /// Whether it is that transaction.
        func isTrue(of transaction: TransactionPayload) -> Bool {
            (product ?? transaction.productId) == transaction.productId
                && (self.transaction ?? transaction.transactionId) == transaction.transactionId
        }

        /// The first member that is otherwise in these transactions; nil where each is the same. Of the transactions only the product is
        /// named: they may be another account's.
        func mismatch(with transactions: [TransactionPayload]) -> APIProblem? {
            for found in transactions where !isTrue(of: found) {
                let isOfProduct = product.map { $0 == found.productId } ?? true
                let name = isOfProduct ? "transactionId" : "productId"
                let signed = isOfProduct ? nil : found.productId
                let (of, among) = (signed.map { ", which is \($0)" } ?? "", signed.map { "（\($0)）" } ?? "")
                return APIProblem(
                    .mismatch,
                    ProblemText(
                        "\(name) of the request is not that of the signed transaction\(of): leave \(name) out, or send the "
                            + "transaction that it names",
                        "请求中的 \(name) 与已签名的交易\(among)不符：请去掉 \(name)，或发送与之相符的交易",
                        "請求中的 \(name) 與已簽署的交易\(among)不符：請去掉 \(name)，或傳送與之相符的交易"))
            }
            return nil
        }

        /// That a receipt has no such purchase.
        var isInNoReceipt: APIProblem {
            let named = [product.map { "productId \($0)" }, transaction.map { "transactionId \($0)" }]
                .compactMap(\.self).joined(separator: ", ")
            return APIProblem(
                .mismatch,
                ProblemText(
                    "the receipt has no purchase of \(named): leave that out, or send a receipt that has it",
                    "收据中没有 \(named) 的购买：请去掉该项，或发送包含它的收据", "收據中沒有 \(named) 的購買：請去掉該項，或傳送包含它的收據"))
        }
    }

    /// A receipt that was taken in, and what binding each of its purchases came to.
    struct ProvenReceipt: Sendable {
        var finding: ReceiptFinding
        var outcomes: [PurchaseKey: BindOutcome]
        /// From when on all of it counts; nil where nothing of it has a date.
        var countsFrom: Timestamp?
        /// When the last transaction of each purchase begins; of a renewal that was charged ahead that is later.
        var begins: [Timestamp]

        var log: Logger.Metadata {
            let bindings = finding.purchases.map { outcomes[$0]?.rawValue ?? "none" }
            var log: Logger.Metadata = [
                "receipt": "\(finding.proof.name)", "environment": "\(finding.scope.environment)",
                "original_transaction_ids":
                    "\(finding.purchases.prefix(10).map(\.originalTransactionID).joined(separator: " "))",
                "bindings": "\(bindings.prefix(10).joined(separator: " "))",
            ]
            if let trouble = finding.trouble { log["trouble"] = "\(trouble)" }
            return log
        }
    }

    /// The receipt of a request, in either spelling.
    static func receipt(in body: JSONObject?) -> String? { body?.string("receiptData") ?? body?.string("receipt_data") }

    /// Finds out whether a receipt proves anything and asks Apple about its purchases. Then one transaction stores
    /// Apple's answers and binds the purchases that are free to the account. No transaction is open while waiting for
    /// Apple.
    /// - Throws: ``APIProblem``: 400 for what proves nothing, 503 where Apple is needed and does not answer; then nothing was kept.
    func prove(
        receipt text: String, claiming claimed: ClaimedPurchase, by caller: Caller,
        until deadline: ContinuousClock.Instant
    ) async throws -> ProvenReceipt {
        guard let receipts else { throw Self.nobodyToAsk }
        try limit(
            receiptChecks, caller,
            ProblemText("this account has handed in receipts just now", "此账号刚刚提交过收据", "此帳號剛剛提交過收據"))
        let finding: ReceiptFinding
        do {
            finding = try await receipts.examine(Array(text.utf8), until: deadline)
        } catch {
            throw Self.problem(asking: error)
        }
        guard finding.purchases.isEmpty || !finding.unanswered.isSuperset(of: finding.purchases) else {
            throw Self.away(finding.trouble)
        }
        if !finding.purchases.isEmpty,
            finding.purchases(withTransaction: claimed.transaction, product: claimed.product).isEmpty
        {
            throw claimed.isInNoReceipt
        }
        return try await apply(finding, by: caller, until: deadline)
    }

    private func apply(
        _ finding: ReceiptFinding, by caller: Caller, until deadline: ContinuousClock.Instant
    ) async throws -> ProvenReceipt {
        let (accounts, rule) = (accounts, rule)
        let evidence =
            [finding.receipt] + (finding.answer.map { [$0] } ?? []) + finding.words.map(\.evidence) + finding.records
        let places = Dictionary(evidence.enumerated().map { ($1, $0) }) { first, _ in first }
        let (answers, applied) = try await APIProblem.withinBudget {
            try await intake.take(evidence.compactMap { HandedIn($0) }, until: deadline, paidBy: caller.token) {
                _, session in
                .proven(try accounts.known(finding.purchases, session), account: caller.account, rule: rule)
            } preparing: { known, session in
                // The same receipt in another encoding is not new.
                let isNew = try History.note(receipt: finding.identity.bytes, session) && !known.contains(0)
                if isNew {
                    try limit(
                        newReceipts, caller,
                        ProblemText(
                            "this account has handed in too many different receipts", "此账号提交了过多不同的收据",
                            "此帳號提交了過多不同的收據"))
                }
                let news = try Set(History.news(among: finding.words, of: finding.scope, session).map(\.evidence))
                var skipped = Set(finding.words.compactMap { news.contains($0.evidence) ? nil : places[$0.evidence] })
                if !isNew { skipped.insert(0) }
                // Apps hand in the same receipt at each start: an answer to it without news is not stored.
                if news.isEmpty, !isNew, let answer = finding.answer.flatMap({ places[$0] }) { skipped.insert(answer) }
                return IntakePlan(skipping: skipped, holding: try accounts.known(finding.purchases, session))
            }
        }
        // What Apple answered and cannot be judged now is not applied: the account as it was would be a wrong answer.
        if answers.contains(where: \.isUndecided) { throw Self.away("an answer cannot be judged at the moment") }
        change(caller, applied)
        // What verifyReceipt lists begins at its own date, too: the database's clock may be behind that.
        let held = finding.purchases.filter { applied?.bindings[$0]?.isHeld == true }
        let dates = [answers.compactMap(\.taken).countsFrom] + held.map(finding.begins)
        return ProvenReceipt(
            finding: finding, outcomes: applied?.bindings ?? [:], countsFrom: dates.compactMap(\.self).max(),
            begins: held.compactMap(finding.lastBegins))
    }

    /// `POST …/verify` with a receipt: the purchase that is meant, or the best of those that the receipt proves.
    func verify(
        receipt text: String, _ request: AccountRequest, _ shape: (VerifyAnswer, Reader) -> JSONValue
    ) async throws -> APIAnswer {
        let caller = try request.requireCaller()
        try requireEnvironment(request)
        let claimed = ClaimedPurchase(request.body)
        let proven = try await prove(receipt: text, claiming: claimed, by: caller, until: .now + Self.patience)
        let finding = proven.finding
        let meant = finding.purchases(withTransaction: claimed.transaction, product: claimed.product)
        let held = meant.filter { proven.outcomes[$0]?.isHeld == true }
        guard !held.isEmpty else { throw Self.refusal(of: meant, proven) }
        let (account, here) = try await readAccounts(
            request, in: finding.scope.environment, countingFrom: proven.countsFrom, orSoon: proven.begins)
        let originals = Set(
            held.filter { key in
                let line = here.view.purchases.first {
                    $0.key.originalTransactionID == key.originalTransactionID && $0.key.bundleID == key.bundleID
                }
                let product = line?.productID ?? finding.product(of: key)
                return here.reader.catalog.product(product ?? "", of: key.bundleID) != nil
            }.map(\.originalTransactionID))
        guard !originals.isEmpty else {
            throw APIProblem(
                .unknownProduct, .unsoldProduct,
                log: proven.log)
        }
        let lines = here.view.purchases.filter {
            originals.contains($0.key.originalTransactionID) && $0.key.bundleID == finding.scope.bundleID
        }
        let missing = held.filter { key in
            originals.contains(key.originalTransactionID) && !lines.contains { $0.key == key }
        }
        let isShown = !missing.contains { isAlwaysShown($0, finding, here.reader.catalog) }
        return APIAnswer(
            .ok,
            shape(
                VerifyAnswer(
                    lines.first, of: account.view, isShown: isShown, countsSandbox: sandbox.includes(caller.account)),
                account.reader),
            log: proven.log.merging(["tier": "\(account.view.current.tier)"]) { _, new in new })
    }

    /// Whether a read of its account shows a purchase in any case: a subscription, and what is sold for good. What else a receipt
    /// lists may be used up.
    func isAlwaysShown(_ purchase: PurchaseKey, _ finding: ReceiptFinding, _ catalog: Catalog) -> Bool {
        if finding.isSubscription(purchase) { return true }
        return catalog.product(finding.product(of: purchase) ?? "", of: purchase.bundleID)?.period == .lifetime
    }

    /// Why none of the purchases that are meant is the account's.
    static func refusal(of meant: [PurchaseKey], _ proven: ProvenReceipt) -> APIProblem {
        let refused = meant.lazy.compactMap { proven.outcomes[$0] }.compactMap { problem($0, proven.log) }
        if let refusal = refused.first { return refusal }
        guard !meant.isEmpty else {
            return APIProblem(
                .nothingBought, ProblemText("the receipt lists no purchase", "收据中没有购买记录", "收據中沒有購買記錄"),
                log: proven.log)
        }
        if meant.contains(where: proven.finding.unanswered.contains) { return away(proven.finding.trouble) }
        if meant.allSatisfy(proven.finding.unknown.contains) {
            return APIProblem(
                .purchaseUnknown, ProblemText("Apple does not know the purchase", "Apple 没有此购买记录", "Apple 沒有此購買記錄"),
                log: proven.log)
        }
        return proven.finding.isAsked ? unusable(proven.log) : nobodyToAsk
    }

    /// What became of each purchase that a receipt proves.
    func items(_ proven: ProvenReceipt, _ reader: Reader) -> [RestoreAnswer.Item] {
        proven.finding.purchases.map { purchase in
            var item = RestoreAnswer.Item(
                Self.fate(proven.outcomes[purchase]), originalTransactionID: purchase.originalTransactionID,
                productID: proven.finding.product(of: purchase), environment: purchase.environment)
            if item.fate.isOwn, reader.catalog.product(item.productID ?? "", of: purchase.bundleID) == nil {
                item.fate = .unknownProduct
            }
            if !item.fate.isOwn { item.code = item.fate.rawValue }
            guard item.fate == .undecided else { return item }
            let finding = proven.finding
            if finding.unknown.contains(purchase) {
                item.code = ProblemCode.purchaseUnknown.code
            } else if finding.unanswered.contains(purchase) || !finding.isAsked {
                item.code = ProblemCode.appleAway.code
            } else {
                item.refuse(Self.unusable([:]))
            }
            return item
        }
    }
}
