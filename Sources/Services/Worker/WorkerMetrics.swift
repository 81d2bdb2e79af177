import AppStorePayloads
import AppStoreVerification
import Base
import EvidenceStore
import Metrics
import Postgres
import PurchaseStore
import Subscriptions
import Synchronization

/// What a worker counts and measures.
///
/// Every series is made here, at 0, and kept by its label: posts cannot add series, and counting costs no look-up by
/// text in the backend.
final class WorkerMetrics: Sendable {
    fileprivate enum Outcome: String, CaseIterable {
        case applied, duplicate, parked, dead
    }

    private let processed: [NotificationType: [Outcome: Counter]]
    private let processedOther: [Outcome: Counter]
    /// Records that came by themselves, by kind.
    private let processedRecords: [EvidenceKind: [Outcome: Counter]]
    private let retries: [String: Counter]
    private let retriesOther: Counter
    private let deadLetters: [DeadLetterCategory: [String: Counter]]
    private let deadLettersOther: [DeadLetterCategory: Counter]
    private let lostLeases: Counter
    private let receiptToCommit: Recorder
    private let signedToReceipt: Recorder
    private let verify: Recorder
    private let batchSize: Recorder
    private let chainHits: Counter
    private let chainMisses: Counter
    private let chainsBefore = Mutex(ChainCache.Statistics())
    /// For the overview; nil where there is none.
    private let tally: WorkTally?

    /// - Parameter tally: where what is done is added up for the overview.
    init(_ factory: any MetricsFactory, _ tally: WorkTally? = nil) {
        self.tally = tally
        func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: "storehook_" + name, dimensions: dimensions, factory: factory)
        }
        func histogram(_ name: String) -> Recorder {
            Recorder(label: "storehook_" + name, dimensions: [], aggregate: true, factory: factory)
        }
        func counters(ofType type: String) -> [Outcome: Counter] {
            .init(Outcome.allCases) { counter("processed_total", [("type", type), ("outcome", $0.rawValue)]) }
        }
        processed = .init(NotificationType.known) { counters(ofType: $0.rawValue) }
        processedOther = counters(ofType: "other")
        processedRecords = .init(EvidenceKind.allCases.filter { $0 != .notification }) { counters(ofType: $0.rawValue) }
        retries = .init(ReasonCode.labelsOfRetries) { counter("retries_total", [("reason", $0)]) }
        retriesOther = counter("retries_total", [("reason", "other")])
        deadLetters = .init(DeadLetterCategory.allCases) { category in
            .init(ReasonCode.labels(of: category)) {
                counter("dead_letters_total", [("category", category.rawValue), ("reason", $0)])
            }
        }
        deadLettersOther = .init(DeadLetterCategory.allCases) {
            counter("dead_letters_total", [("category", $0.rawValue), ("reason", "other")])
        }
        lostLeases = counter("lost_leases_total")
        receiptToCommit = histogram("receipt_to_commit_seconds")
        signedToReceipt = histogram("signed_to_receipt_seconds")
        verify = histogram("verify_seconds")
        batchSize = histogram("batch_size")
        chainHits = counter("chain_cache_total", [("result", "hit")])
        chainMisses = counter("chain_cache_total", [("result", "miss")])
    }

    /// So many notifications were claimed.
    func claimed(_ count: Int) { batchSize.record(count) }

    /// A batch was verified, with the time for each notification; `chains` counts since the worker began.
    func verified(_ durations: [Duration], chains: ChainCache.Statistics) {
        for duration in durations { verify.record(duration / .seconds(1)) }
        let before = chainsBefore.withLock { before in
            defer { before = chains }
            return before
        }
        chainHits.increment(by: chains.hits - before.hits)
        chainMisses.increment(by: chains.misses - before.misses)
    }

    /// A batch was committed.
    /// - Parameter end: when, by the database's clock.
    func settled(
        _ entries: [LedgerEntry], _ outcomes: [LedgerOutcome], _ letters: [DeadLetterDraft], at end: PostgresTimestamp
    ) {
        var done = WorkTally.Count()
        for (entry, outcome) in zip(entries, outcomes) {
            count(entry.kind, entry.notification?.notificationType, Outcome(outcome))
            // A repeat is not measured: the notification had arrived before.
            guard outcome != .duplicate else {
                done.duplicates += 1
                continue
            }
            done.recorded += 1
            receiptToCommit.record(Self.seconds(from: entry.receivedAt, to: end))
            done.own.add(from: Timestamp(entry.receivedAt), to: Timestamp(end))
            // Only Apple's posts are sent when they are signed; other evidence was fetched, or stored by an app first.
            guard entry.source == .webhook, let signedAt = entry.signedAt else { continue }
            let signed = PostgresTimestamp(millisecondsSince1970: signedAt.millisecondsSince1970)
            signedToReceipt.record(Self.seconds(from: signed, to: entry.receivedAt))
            done.apple.add(from: signedAt, to: Timestamp(entry.receivedAt))
        }
        done.buried = Int64(letters.count)
        tally?.add(done)
        for letter in letters {
            count(letter.kind, NotificationType(rawValue: letter.type ?? ""), .dead)
            let known = deadLetters[letter.category]?[letter.reason.label]
            (known ?? deadLettersOther[letter.category])?.increment()
        }
    }

    /// So many notifications were put off.
    func reschedule(_ count: Int, reason: ReasonCode) {
        (retries[reason.label] ?? retriesOther).increment(by: count)
    }

    /// So many notifications are held by other workers by now.
    func lost(_ count: Int) {
        if count > 0 { lostLeases.increment(by: count) }
    }

    private func count(_ kind: EvidenceKind, _ type: NotificationType?, _ outcome: Outcome) {
        (processedRecords[kind] ?? type.flatMap { processed[$0] } ?? processedOther)[outcome]?.increment()
    }

    /// Where Apple signed, two clocks are compared: a negative duration counts as 0.
    private static func seconds(from start: PostgresTimestamp, to end: PostgresTimestamp) -> Double {
        max(0, Double(end.microsecondsSince1970) - Double(start.microsecondsSince1970)) / 1e6
    }
}

extension WorkerMetrics.Outcome {
    fileprivate init(_ outcome: LedgerOutcome) {
        switch outcome {
        case .applied: self = .applied
        case .parked: self = .parked
        case .duplicate: self = .duplicate
        }
    }
}

extension Dictionary {
    fileprivate init(_ keys: some Sequence<Key>, _ value: (Key) -> Value) {
        self.init(keys.map { ($0, value($0)) }) { first, _ in first }
    }
}
