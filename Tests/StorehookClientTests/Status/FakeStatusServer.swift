import Foundation

@testable import StorehookClient

/// A server that has accounts, their purchases and a clock, and answers badly where a test says so.
final class FakeStatusServer: StatusServer, @unchecked Sendable {
    /// How the next answers come.
    enum Weather: CaseIterable, Sendable { case fine, away, unreadable, lost }

    /// What the server has.
    struct World {
        var now = MovedClock.start
        var weather = Weather.fine
        /// Whose token the app has.
        var caller = "alice"
        /// Which accounts have which transactions.
        var owners: [String: String] = [:]
        var transactions: [String: StoreTransaction] = [:]
        var refunded: Set<String> = []
        var blocked: Set<String> = []
        /// What is of no product that the server knows.
        var rejected: Set<String> = []
        /// What the server does not find to be signed by Apple.
        var unproven: Set<String> = []
        /// Grants of staff's, by account.
        var grants: [String: Date] = [:]
        var version: Int64 = 1
        var answers = 0
        var verified: [String] = []
        var reports: [PurchaseAttempt] = []
        var asked = 0
        /// The last answer about an account that reached the app.
        var heard: KnownStatus.Answer?
        /// Which purchases the app has heard to be refused.
        var refused: Set<String> = []
        /// Whether the app has heard which token is the account's.
        var isTokenHeard = false
    }

    // The lock guards both.
    private var world = World()
    private var gates: [String: @Sendable () async -> Void] = [:]
    private let lock = NSLock()

    /// Reads or changes what it has.
    @discardableResult
    func with<Result>(_ change: (inout World) -> Result) -> Result { lock.withLock { change(&world) } }

    /// Has a path wait before it answers.
    func hold(_ path: String, _ gate: (@Sendable () async -> Void)?) { lock.withLock { gates[path] = gate } }

    private func answer<Answer: Sendable>(_ path: String, _ make: (inout World) throws -> Answer) async throws
        -> Answered<Answer>
    {
        let (made, date) = try lock.withLock {
            world.asked += 1
            switch world.weather {
            case .away: throw ServerFault.away
            case .unreadable: throw ServerFault.unreadable
            case .fine, .lost: break
            }
            return (Result { try make(&world) }, world.now)
        }
        if let gate = lock.withLock({ gates[path] }) { await gate() }
        if with({ $0.weather == .lost }) { throw ServerFault.away }
        let answer = try made.get()
        with { $0.answers += 1 }
        return Answered(value: answer, date: date)
    }

    func account() async throws -> (id: String, appAccountToken: UUID?) {
        let id = try await answer("account") { $0.caller }.value
        with { $0.isTokenHeard = true }
        return (id, StatusPhone.token(of: id))
    }

    func status() async throws -> Answered<KnownStatus.Answer> {
        let word = try await answer("status") { $0.status(of: $0.caller) }
        with { $0.heard = word.value }
        return word
    }

    func verify(_ transaction: StoreTransaction) async throws -> Answered<AcceptedTransaction> {
        let heard = Heard()
        let word = try await answer("verify") { world in
            world.verified.append(transaction.id)
            do { try world.take(transaction) } catch {
                if error as? ServerFault == .refused(.otherAccount) { world.refused.insert(transaction.originalID) }
                throw error
            }
            let status = world.status(of: world.caller)
            heard.answer = status
            let purchase = status.purchases.first { $0.originalID == transaction.originalID }
            return AcceptedTransaction(
                accountID: world.caller, hasAccess: status.hasAccess, tier: status.tier, status: status.status,
                expiresAt: status.expiresAt, version: status.version, purchase: purchase,
                purchaseType: purchase == nil ? "none" : "subscription")
        }
        with { $0.heard = heard.answer }
        return word
    }

    /// The account beside an answer; one task alone uses it at a time.
    private final class Heard: @unchecked Sendable { var answer: KnownStatus.Answer? }

    func restore(_ transactions: [StoreTransaction]) async throws -> Answered<RestoredTransactions> {
        let word = try await answer("restore") { world in
            let fates = transactions.map { transaction -> RestoredTransactions.Fate in
                do {
                    try world.take(transaction)
                    return .own
                } catch {
                    if case ServerFault.rejected(let described) = error { return .rejected(described) }
                    return .refused
                }
            }
            return RestoredTransactions(
                accountID: world.caller, fates: fates, answer: world.status(of: world.caller))
        }
        with { $0.heard = word.value.answer }
        return word
    }

    func catalog() async throws -> Catalog { try await answer("catalog") { _ in StatusPhone.catalog }.value }

    func report(_ attempt: PurchaseAttempt) async throws {
        _ = try await answer("report") { $0.reports.append(attempt) }
    }
}

extension FakeStatusServer.World {
    /// Stores what a device hands in, for the account of the caller.
    mutating func take(_ transaction: StoreTransaction) throws(ServerFault) {
        if rejected.contains(transaction.id) { throw .rejected(.product) }
        if unproven.contains(transaction.id) { throw .rejected(.verificationFailed) }
        if let token = transaction.appAccountToken, token != StatusPhone.token(of: caller) {
            throw .refused(.otherAccount)
        }
        guard owners[transaction.originalID, default: caller] == caller else { throw .refused(.otherAccount) }
        owners[transaction.originalID] = caller
        transactions[transaction.id] = transaction
        version += 1
    }

    /// What an account has now.
    func status(of account: String) -> KnownStatus.Answer {
        let own = transactions.values.filter { owners[$0.originalID] == account }
        let purchases = Dictionary(grouping: own, by: \.originalID).values.compactMap { line in
            line.max { (UInt64($0.id) ?? 0) < (UInt64($1.id) ?? 0) }.map(purchase)
        }
        let isBlocked = blocked.contains(account)
        let giving = isBlocked ? [] : purchases.filter(\.hasAccess)
        let grant = isBlocked ? nil : grants[account].flatMap { $0 > now ? $0 : nil }
        let ends = giving.map { $0.expiresAt ?? .distantFuture } + (grant.map { [$0] } ?? [])
        let end = ends.max()
        let hasAccess = end != nil
        let isRevoked = isBlocked || (!hasAccess && purchases.contains { $0.status == "revoked" })
        return KnownStatus.Answer(
            readAt: now, hasAccess: hasAccess, tier: hasAccess ? "pro" : "free",
            status: hasAccess
                ? "active" : isRevoked ? "revoked" : purchases.isEmpty && grants[account] == nil ? "free" : "expired",
            expiresAt: end == .distantFuture ? nil : end ?? purchases.compactMap(\.expiresAt).max(),
            accessUntil: end == .distantFuture ? nil : end, willRenew: false,
            purchaseType: giving.isEmpty ? "none" : "subscription", period: giving.isEmpty ? nil : "month",
            transactionID: giving.max { $0.expiresAt ?? .distantFuture < $1.expiresAt ?? .distantFuture }?
                .transactionID,
            version: version,
            purchases: purchases.map { purchase in
                var purchase = purchase
                if isBlocked { purchase.hasAccess = false }
                return purchase
            })
    }

    private func purchase(_ transaction: StoreTransaction) -> KnownStatus.Purchase {
        let isRevoked = refunded.contains(transaction.id)
        let isOver = transaction.expiresAt.map { $0 <= now } ?? false
        return KnownStatus.Purchase(
            originalID: transaction.originalID, transactionID: transaction.id, productID: transaction.productID,
            tier: "pro", status: isRevoked ? "revoked" : isOver ? "expired" : "active",
            hasAccess: !isRevoked && !isOver, expiresAt: transaction.expiresAt)
    }
}
