import AppStorePayloads
import AppleRecords
import Base
import EvidenceStore
import Synchronization

/// What Apple answers while a caller waits: collected page by page and not stored, for the caller to apply at once. What has come by
/// the deadline is in it.
final class CollectedEvidence: Sendable {
    private struct Contents: Sendable {
        var evidence: [AppEnvironment: [Evidence]] = [:]
        var transactions: [TransactionPayload] = []
        var settled: Set<String> = []
    }

    private let contents = Mutex(Contents())

    /// An empty one.
    init() {}

    /// The transactions in the answers, in the order in which they came.
    var transactions: [TransactionPayload] { contents.withLock(\.transactions) }

    /// The purchases whose present status the answers say, by their original transaction ids.
    var settled: Set<String> { contents.withLock(\.settled) }

    /// Takes the signed records of one answer.
    func put(_ evidence: [Evidence], _ transactions: [TransactionPayload], of scope: AppEnvironment) {
        contents.withLock {
            $0.evidence[scope, default: []] += evidence
            $0.transactions += transactions
        }
    }

    /// Notes that these purchases' statuses have been answered.
    func settle(_ purchases: Set<String>) { contents.withLock { $0.settled.formUnion(purchases) } }

    /// The signed records that say something which is not held already: Apple signs what it answers anew each time.
    /// - Throws: `PostgresError`.
    func news(by history: History) async throws -> [Evidence] {
        var news: [Evidence] = []
        for (scope, evidence) in contents.withLock(\.evidence).sorted(by: Self.isBefore) {
            news += try await history.news(among: evidence, of: scope)
        }
        var seen: Set<Evidence> = []
        return news.filter { seen.insert($0).inserted }
    }

    private static func isBefore(
        _ a: (key: AppEnvironment, value: [Evidence]), _ b: (key: AppEnvironment, value: [Evidence])
    )
        -> Bool
    {
        (a.key.bundleID, a.key.environment) < (b.key.bundleID, b.key.environment)
    }
}
