import Foundation

extension SubscriptionManager {
    /// Reads the catalog, and what the store asks for its products. Called when a paywall opens, not before.
    public func loadProducts() async {
        guard known != nil else { return }
        let mine = generation
        change { turn.busy += 1 }
        var failure: ClientError?
        do {
            try await check(mine)
            let catalog = try await server.catalog()
            let order = catalog.productIDs
            let products = try await source.products(order)
            guard generation == mine else { return }
            let places = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: min)
            sold = Sold(
                catalog: catalog,
                products: products.sorted { places[$0.id] ?? .max < places[$1.id] ?? .max })
            learn { $0.take(catalog) }
        } catch {
            let described = ClientError(describing: error)
            write("the products cannot be loaded: \(ClientError.kind(of: error))")
            failure = described
        }
        end(failure, mine)
    }

    /// Buys a product for the account that is signed in: the store's window opens, the server verifies, and then it is finished.
    /// - Parameter productID: the store's id.
    public func purchase(_ productID: String) async -> PurchaseResult {
        guard known != nil else { return .failed(ClientError(describing: NotSignedIn())) }
        let mine = generation
        change { turn.busy += 1 }
        // A view that goes away ends its task: what the store has begun is brought to its end all the same.
        let result = await Task { await self.buy(productID, mine) }.value
        guard generation == mine else { return result }
        write("buying \(productID) ended: \(result.word)")
        switch result {
        case .purchased: report(productID, .completed)
        case .pending: report(productID, .pending)
        case .cancelled: report(productID, .cancelled)
        case .failed: break
        }
        if case .failed(let error) = result { end(error, mine) } else { end(nil, mine) }
        return result
    }

    /// No account is signed in.
    struct NotSignedIn: Error {}

    private func report(_ productID: String, _ outcome: PurchaseAttempt.Outcome, _ reason: String? = nil) {
        report(PurchaseAttempt(.purchase, outcome, productID: productID, reason: reason))
    }

    private func end(_ error: ClientError?, _ mine: Int) {
        guard generation == mine else { return }
        change {
            turn.busy -= 1
            turn.error = error
        }
    }

    private func buy(_ productID: String, _ mine: Int) async -> PurchaseResult {
        let outcome: PurchaseOutcome
        do {
            if known?.appAccountToken == nil || !turn.isChecked { try await check(mine) }
            guard let token = known?.appAccountToken, generation == mine else { return .cancelled }
            outcome = try await source.purchase(productID, appAccountToken: token)
        } catch {
            let described = ClientError(describing: error)
            if described == .cancelled { return .cancelled }
            write("buying \(productID) failed: \(ClientError.kind(of: error))")
            if generation == mine { report(productID, .failed, "\(type(of: error))") }
            return .failed(described)
        }
        switch outcome {
        case .pending: return .pending
        case .cancelled: return .cancelled
        case .success(let result): return await bought(result, productID, mine)
        }
    }

    private func bought(_ result: StoreResult, _ productID: String, _ mine: Int) async -> PurchaseResult {
        let fate = await take(result, productID: productID, finishes: true, mine)
        guard generation == mine else { return fate == .accepted ? .purchased : .cancelled }
        await readEntitlements(mine)
        switch fate {
        case .accepted:
            await askStatus(mine)
            return .purchased
        case .later:
            // The store has the money: it is handed in by the loop as soon as the server answers.
            turn.failures = max(1, turn.failures)
            restartLoop()
            return .purchased
        case .refused(let error):
            report(productID, .failed, "refused")
            return .failed(error)
        case .rejected(let error): return .failed(error)
        }
    }

    /// Restores what the customer has bought: the store hands over everything, and the server decides whose it is.
    ///
    /// What was refused for this account before is handed in once more.
    public func restorePurchases() async -> RestoreResult {
        guard known != nil else { return .failed(ClientError(describing: NotSignedIn())) }
        let mine = generation
        change { turn.busy += 1 }
        let result = await Task { await self.restore(mine) }.value
        guard generation == mine else { return .cancelled }
        let outcome: PurchaseAttempt.Outcome =
            switch result {
            case .restored: .completed
            case .nothing: .nothing
            case .cancelled: .cancelled
            case .failed: .failed
            }
        write("restoring ended: \(outcome.rawValue)")
        report(PurchaseAttempt(.restore, outcome))
        if case .failed(let error) = result { end(error, mine) } else { end(nil, mine) }
        return result
    }

    private func restore(_ mine: Int) async -> RestoreResult {
        do {
            try await source.sync()
            let unfinished = try await source.unfinished()
            let held = try await source.currentEntitlements()
            guard generation == mine else { return .cancelled }
            let entitlements = verified(held, mine)
            change { turn.entitlements = entitlements }
            var seen: Set<StoreTransaction.Version> = []
            let transactions = (verified(unfinished, mine) + entitlements).filter { seen.insert($0.version).inserted }
            guard !transactions.isEmpty else {
                if let error = await askStatus(mine) { return .failed(error) }
                return .nothing
            }
            try await check(mine)
            turn.asked += 1
            let order = turn.asked
            let word = try await server.restore(transactions)
            guard generation == mine, let known else { return .cancelled }
            guard Self.isSame(word.value.accountID, known.accountID) else { throw OtherAccount() }
            anchor(at: word.date)
            return await settle(transactions, word.value, order, mine)
        } catch {
            let described = ClientError(describing: error)
            if described == .cancelled { return .cancelled }
            write("the purchases cannot be restored: \(ClientError.kind(of: error))")
            return .failed(described)
        }
    }

    private func settle(
        _ transactions: [StoreTransaction], _ restored: RestoredTransactions, _ order: Int, _ mine: Int
    ) async -> RestoreResult {
        var own: [StoreTransaction] = []
        var failure: ClientError?
        for (transaction, fate) in zip(transactions, restored.fates) {
            switch fate {
            case .own:
                turn.settled[transaction.version] = .accepted
                own.append(transaction)
            case .refused:
                failure = .otherAccount
                refuse(transaction, .otherAccount)
            case .rejected(let error):
                failure = failure ?? error
                reject(transaction, error)
            case .later: turn.settled[transaction.version] = nil
            }
        }
        accept(own)
        adopt(restored.answer, order)
        for transaction in own { await finish(transaction, mine) }
        let purchases = Set(own.map(\.originalID)).count
        if purchases > 0 { return .restored(purchases) }
        if failure == .otherAccount { return .failed(.otherAccount) }
        return .failed(restored.fates.contains(.later) ? .network : failure ?? .verificationFailed)
    }
}
