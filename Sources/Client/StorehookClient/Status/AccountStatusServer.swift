import Foundation

/// The account API, as the manager asks it.
struct AccountStatusServer: StatusServer {
    let api: AccountAPI

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
        let answered = try await sorted {
            try await api.answeredVerification(transaction.signedTransactionInfo, transaction.signedRenewalInfo)
        }
        return Answered(value: AcceptedTransaction(answered.value), date: answered.date)
    }

    func restore(_ transactions: [StoreTransaction]) async throws -> Answered<RestoredTransactions> {
        let answered = try await sorted { try await api.answeredRestoration(transactions.map(\.signedTransactionInfo)) }
        let restored = answered.value
        return Answered(
            value: RestoredTransactions(
                accountID: restored.account.id, fates: restored.transactions.map { .init($0.result) },
                answer: KnownStatus.Answer(restored.status, readAt: answered.date ?? Date())), date: answered.date)
    }

    func catalog() async throws -> Catalog { try await sorted { try await api.products() } }

    func report(_ attempt: PurchaseAttempt) async throws { try await sorted { try await api.report(attempt) } }

    /// Sorts the errors of a call by what they mean for a transaction.
    private func sorted<Value>(_ call: () async throws -> Value) async throws -> Value {
        do { return try await call() } catch ClientError.unreadableAnswer { throw ServerFault.unreadable } catch let
            problem as Problem
        {
            switch problem.status {
            case _ where problem.isTransient: throw ServerFault.away
            case 403, 409: throw ServerFault.refused
            case 400, 422: throw ServerFault.rejected
            default: throw problem
            }
        } catch ClientError.network { throw ServerFault.away }
    }
}
