import Foundation

extension SubscriptionManager {
    /// Takes what the store hands over.
    /// - Parameters:
    ///   - productID: what is being bought, where that is known.
    ///   - finishes: whether the store waits for it to be finished.
    @discardableResult
    func take(_ result: StoreResult, productID: String? = nil, finishes: Bool, _ mine: Int) async -> Fate {
        switch result {
        case .verified(let transaction):
            if generation == mine { note(transaction) }
            return await deliver(transaction, finishes: finishes, mine)
        case .unverified(let claimed, let reason):
            report(unverified: claimed, productID, reason, mine)
            return .rejected(.verificationFailed)
        }
    }

    /// The transactions among what the store hands over. It reports the others, and takes note of what was taken back.
    func verified(_ results: [StoreResult], _ mine: Int) -> [StoreTransaction] {
        results.compactMap { result in
            switch result {
            case .verified(let transaction):
                note(transaction)
                return transaction
            case .unverified(let claimed, let reason):
                report(unverified: claimed, nil, reason, mine)
                return nil
            }
        }
    }

    /// Takes note of what the store has taken back, or given back: it counts before the server knows of it.
    func note(_ transaction: StoreTransaction) {
        guard let known, known.takenBack.contains(transaction.id) != (transaction.revokedAt != nil) else { return }
        if transaction.revokedAt == nil {
            learn { $0.takenBack.remove(transaction.id) }
        } else if turn.settled[transaction.version] != .accepted {
            learn { $0.takenBack.insert(transaction.id) }
        }
    }

    /// Reports a result whose signature is not the store's: once, and neither sent nor finished.
    private func report(
        unverified claimed: StoreTransaction?, _ productID: String?, _ reason: String, _ mine: Int
    ) {
        guard generation == mine, turn.reportedFaults.insert("\(claimed?.id ?? "") \(reason)").inserted else { return }
        write("a transaction is not signed by the store and gives nothing: \(reason)")
        guard let productID = productID ?? claimed?.productID else { return }
        report(
            PurchaseAttempt(.purchase, .failed, productID: productID, reason: "unverified: \(reason)"))
    }

    /// Hands a transaction in once, although several parts of the store may give it, and finishes it once the server has accepted it.
    func deliver(_ transaction: StoreTransaction, finishes: Bool, _ mine: Int) async -> Fate {
        guard generation == mine, let known else { return .later }
        let version = transaction.version
        var fate = turn.settled[version]
        // Accepted in an earlier process, and not finished before that ended. Where the store holds it and the server lacks it, the server
        // has lost it, or the purchase has gone to another account: it is asked once more.
        if fate == nil, finishes, !version.isRevoked, known.accepted.contains(transaction.id) { fate = .accepted }
        if fate == nil {
            let task = turn.inFlight[version] ?? Task { await self.handIn(transaction, mine) }
            if generation == mine { turn.inFlight[version] = task }
            fate = await task.value
        }
        if fate == .accepted, finishes { await finish(transaction, mine) }
        return fate ?? .later
    }

    private func handIn(_ transaction: StoreTransaction, _ mine: Int) async -> Fate {
        defer { if generation == mine { turn.inFlight[transaction.version] = nil } }
        turn.asked += 1
        let order = turn.asked
        // Whose token it is says nothing of the transaction.
        do { try await check(mine) } catch {
            write("transaction \(transaction.id) is handed in later: \(ClientError.kind(of: error))")
            return .later
        }
        do {
            let word = try await server.verify(transaction)
            // Accepted is accepted, but what it says of the account is of one that is not signed in any more.
            guard generation == mine, let known else { return .accepted }
            guard Self.isSame(word.value.accountID, known.accountID) else { return .later }
            anchor(at: word.date)
            turn.settled[transaction.version] = .accepted
            merge(word.value, order)
            accept([transaction])
            return .accepted
        } catch {
            guard generation == mine else { return .later }
            return settle(transaction, error)
        }
    }

    /// Takes note that the server has accepted transactions. What the store holds no more is forgotten.
    func accept(_ transactions: [StoreTransaction]) {
        let held = Set(turn.entitlements.map(\.id))
        learn { known in
            known.refused.subtract(transactions.map(\.originalID))
            known.accepted.formUnion(transactions.map(\.id))
            // The server knows by now what the store has taken back.
            known.takenBack.subtract(transactions.filter { $0.revokedAt != nil }.map(\.id))
            // As many as any store has unfinished; those that it holds stay.
            if known.accepted.count > 200 { known.accepted.formIntersection(held.union(transactions.map(\.id))) }
        }
    }

    private func settle(_ transaction: StoreTransaction, _ error: any Error) -> Fate {
        switch error as? ServerFault {
        case .refused(let error):
            write("the server refuses transaction \(transaction.id) for this account: it gives nothing")
            refuse(transaction, error)
            return .refused(error)
        case .rejected(let described):
            write("the server rejects transaction \(transaction.id): it is not finished")
            reject(transaction, described)
            report(
                PurchaseAttempt(
                    .purchase, .failed, productID: transaction.productID, reason: "rejected",
                    transactionID: transaction.id))
            return .rejected(described)
        case .away, .unreadable, nil:
            if (error as? Problem)?.status == 401 { turn.isChecked = false }
            write("transaction \(transaction.id) is handed in later: \(ClientError.kind(of: error))")
            return .later
        }
    }

    /// Takes note that the server refuses a transaction for this account.
    func refuse(_ transaction: StoreTransaction, _ error: ClientError) {
        turn.settled[transaction.version] = .refused(error)
        learn { known in
            known.refused.insert(transaction.originalID)
            known.accepted.remove(transaction.id)
        }
    }

    /// Takes note that the server cannot take a transaction. What proves nothing gives nothing, although the device took it for signed by
    /// the store.
    func reject(_ transaction: StoreTransaction, _ error: ClientError) {
        turn.settled[transaction.version] = .rejected(error)
        if error == .verificationFailed { learn { $0.refused.insert(transaction.originalID) } }
    }

    /// Finishes a transaction that the server has accepted, once. Where the store cannot be reached it is finished at the next scan.
    func finish(_ transaction: StoreTransaction, _ mine: Int) async {
        guard generation == mine else {
            try? await source.finish(transaction)
            return
        }
        let version = transaction.version
        if turn.finished.contains(version) { return }
        if let task = turn.finishing[version] { return await task.value }
        let task = Task {
            do {
                try await self.source.finish(transaction)
                if self.generation == mine { self.turn.finished.insert(version) }
            } catch {
                self.write("transaction \(transaction.id) is not finished yet: \(ClientError.kind(of: error))")
            }
            if self.generation == mine { self.turn.finishing[version] = nil }
        }
        turn.finishing[version] = task
        await task.value
    }

    /// Takes over what the answer to a transaction says of the account.
    private func merge(_ word: AcceptedTransaction, _ order: Int) {
        var answer =
            known?.answer
            ?? KnownStatus.Answer(
                readAt: now, hasAccess: word.hasAccess, tier: word.tier, status: word.status,
                purchaseType: word.purchaseType, period: word.period, transactionID: word.purchase?.transactionID,
                version: word.version)
        if let purchase = word.purchase {
            answer.purchases.removeAll { $0.originalID == purchase.originalID }
            answer.purchases.append(purchase)
        }
        if answer.tier != word.tier { answer.tierUntil = nil }
        (answer.hasAccess, answer.tier, answer.status) = (word.hasAccess, word.tier, word.status)
        (answer.displayStatus, answer.expiresAt, answer.version) = (word.displayStatus, word.expiresAt, word.version)
        answer.accessUntil = word.hasAccess ? word.expiresAt : nil
        answer.willRenew = word.willRenew ?? answer.willRenew
        adopt(answer, order)
    }

    // MARK: Attempts

    /// Reports an attempt, after those before it. Nothing waits for it, and nothing is decided by it.
    func report(_ attempt: PurchaseAttempt) {
        let (server, before) = (server, turn.reporting)
        turn.reporting = Task { [weak self] in
            await before?.value
            do { try await server.report(attempt) } catch {
                self?.write("an attempt is not reported: \(ClientError.kind(of: error))")
            }
        }
    }
}
