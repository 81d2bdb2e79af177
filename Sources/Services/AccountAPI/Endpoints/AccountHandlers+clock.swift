import APIKit
import AppStorePayloads
import AppStoreVerification
import Base
import HTTPTypes
import Logging
import Pipeline
import Subscriptions

extension AccountHandlers {
    /// How long an answer waits for the database's clock to reach what Apple has signed: clocks differ by seconds.
    static let clockPatience = Duration.seconds(5)

    /// Reads until the database's clock, which everybody's reads go by, has reached an instant. Nothing is open in the database while
    /// it waits.
    /// - Parameters:
    ///   - due: from when on what was proven counts; nil where nothing of it has a date.
    ///   - begins: instants that are waited for as well where they come within ``clockPatience``.
    ///   - read: reads, and names the instant that was read.
    /// - Throws: ``clockBehind(_:)`` where the clock is further behind than ``clockPatience``; what `read` throws.
    func read<Value: Sendable>(
        countingFrom due: Timestamp?, orSoon begins: [Timestamp] = [],
        _ read: () async throws -> (Value, Timestamp)
    ) async throws -> Value {
        var patience = Self.milliseconds(Self.clockPatience)
        while true {
            let (value, now) = try await read()
            let soon = begins.filter { $0 <= now.adding(milliseconds: patience) }
            guard let due = (soon + [due].compactMap(\.self)).max(), now < due else { return value }
            let rest = due.milliseconds(since: now)
            guard rest <= patience else { throw Self.clockBehind(rest) }
            patience -= rest
            try await Task.sleep(for: .milliseconds(rest))
        }
    }

    /// What was proven is kept, and does not count yet.
    /// - Parameter rest: milliseconds until it does.
    static func clockBehind(_ rest: Int64) -> APIProblem {
        APIProblem(
            .verification(.signedInFuture),
            .clockBehind("a clock here is behind Apple's; what was handed in is kept: hand it in again"),
            headers: [.retryAfter: "\(max(1, (rest + 999) / 1000))"], log: ["clock_behind_ms": "\(rest)"])
    }

    static func milliseconds(_ duration: Duration) -> Int64 { Int64(duration / .milliseconds(1)) }
}

extension Sequence<TakenEvidence> {
    /// From when on all of it counts; nil where nothing has a date.
    var countsFrom: Timestamp? { compactMap(\.countsFrom).max() }
}

extension TakenEvidence {
    /// From when on it counts: its signature, and its purchase. A renewal that was charged ahead counts from its signature: the
    /// period before it runs on until then.
    var countsFrom: Timestamp? {
        switch record {
        case .transaction(let transaction):
            guard let purchasedAt = transaction.purchaseDate, !transaction.isChargedAhead else {
                return transaction.signedDate
            }
            return max(transaction.signedDate, purchasedAt)
        case .renewal(let renewal): return renewal.signedDate
        case .receipt, .appTransaction: return nil
        }
    }
}

extension TransactionPayload {
    /// Whether it was signed before its period begins. Apple renews ahead; a purchase that seems to be ahead shows two clocks.
    fileprivate var isChargedAhead: Bool {
        guard let purchaseDate, purchaseDate > signedDate else { return false }
        if let transactionReason { return transactionReason == .renewal }
        return purchaseDate.milliseconds(since: signedDate) > StatusPolicy.clockDifferenceSeconds * 1000
    }
}
