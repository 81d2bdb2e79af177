import Foundation

/// The account API, as the manager asks it.
struct AccountStatusServer: StatusServer {
    let api: AccountAPI

    /// How many transactions the server takes at once.
    static let mostRestored = 100

    func account() async throws -> (id: String, appAccountToken: UUID?) {
        let account = try await sorted { try await api.account() }
        return (account.id, account.appAccountToken)
    }

    func status() async throws -> Answered<KnownStatus.Answer> {
        // The status names no account: the account's answer, asked before it, does.
        let answered = try await sorted { try await api.answeredStatus() }
        return Answered(
            value: KnownStatus.Answer(answered.value, readAt: answered.date ?? Date()), date: answered.date)
    }

    func verify(_ transaction: StoreTransaction) async throws -> Answered<AcceptedTransaction> {
        let answered = try await judged {
            try await api.answeredVerification(transaction.signedTransactionInfo, transaction.signedRenewalInfo)
        }
        return Answered(value: AcceptedTransaction(answered.value), date: answered.date)
    }

    func restore(_ transactions: [StoreTransaction]) async throws -> Answered<RestoredTransactions> {
        var all: Answered<RestoredTransactions>?
        for start in stride(from: 0, to: transactions.count, by: Self.mostRestored) {
            let part = transactions[start..<min(start + Self.mostRestored, transactions.count)]
            let answered = try await sorted { try await api.answeredRestoration(part.map(\.signedTransactionInfo)) }
            let restored = answered.value
            let before = all?.value
            if let before, before.accountID != restored.account.id { throw ServerFault.away }
            all = Answered(
                value: RestoredTransactions(
                    accountID: restored.account.id,
                    fates: (before?.fates ?? []) + restored.transactions.map { .init($0.result) },
                    answer: KnownStatus.Answer(restored.status, readAt: answered.date ?? Date())), date: answered.date)
        }
        guard let all else { throw ServerFault.unreadable }
        return all
    }

    func catalog() async throws -> Catalog { try await sorted { try await api.products() } }

    func report(_ attempt: PurchaseAttempt) async throws { try await sorted { try await api.report(attempt) } }

    /// Sorts the errors of a call by whether it is to be asked again.
    private func sorted<Value>(_ call: () async throws -> Value) async throws -> Value {
        do { return try await call() } catch ClientError.unreadableAnswer { throw ServerFault.unreadable } catch let
            problem as Problem where problem.isTransient
        { throw ServerFault.away } catch ClientError.network { throw ServerFault.away }
    }

    /// Sorts the errors of a transaction by what becomes of it. What a proxy answers says nothing of it: it is handed in again.
    private func judged<Value>(_ call: () async throws -> Value) async throws -> Value {
        do { return try await sorted(call) } catch let problem as Problem where problem.isServers {
            switch problem.status {
            case 403, 409: throw ServerFault.refused(ClientError(describing: problem))
            case 400, 422: throw ServerFault.rejected(ClientError(describing: problem))
            default: throw problem
            }
        }
    }
}
