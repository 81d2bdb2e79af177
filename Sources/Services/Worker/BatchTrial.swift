import AccountStore
import Base
import EvidenceStore
import Logging
import Postgres

/// Finds out which rows of a batch PostgreSQL takes, by halves, and settles those.
struct BatchTrial {
    let configuration: WorkerConfiguration
    let logger: Logger
    /// Until when rows are tried: the rest of the lease is for putting off those that were refused.
    let deadline: ContinuousClock.Instant
    /// One transaction: all of its rows are settled, or none.
    let commit: @Sendable (_ batch: PreparedBatch, _ limit: Duration) async throws -> BatchTally

    /// What became of the rows that are done with.
    private(set) var tally = BatchTally()
    /// The others.
    private(set) var refused: [RefusedRow] = []
    /// When PostgreSQL first refused something; nil if it never did.
    private(set) var firstRefusal: ContinuousClock.Instant?
    /// What was settled after that.
    private(set) var since = BatchTally()
    /// How many more failures ``probe(_:)`` may have.
    private var probes = Self.probes

    init(
        configuration: WorkerConfiguration, logger: Logger, deadline: ContinuousClock.Instant,
        commit: @escaping @Sendable (PreparedBatch, Duration) async throws -> BatchTally
    ) {
        self.configuration = configuration
        self.logger = logger
        self.deadline = deadline
        self.commit = commit
    }

    /// Settles what PostgreSQL takes of a batch. Rows that it refused before do not hold up the others.
    mutating func settle(_ batch: PreparedBatch) async {
        await settle(batch.only(batch.rows.filter { !$0.wasRefused }), tries: Self.triesTogether)
        await probe(batch.only(batch.rows.filter(\.wasRefused)))
    }

    /// - Parameter tries: after how many transient faults that one row may have caused each half of the batch is tried
    ///   alone.
    private mutating func settle(_ batch: PreparedBatch, tries: Int) async {
        guard !batch.rows.isEmpty else { return }
        // A third of the time left, so that enough is left for the halves, and for theirs.
        let share = max((deadline - .now) / 3, min(Self.leastShare, configuration.lease / 30))
        let end = ContinuousClock.now + share
        var failures = 0
        while true {
            do {
                try await take(batch, within: max(end - .now, .milliseconds(1)))
                return
            } catch let error as PostgresError where error.isTransient {
                failures += 1
                let isLast =
                    error.mayBeOfOneRow
                    ? failures >= tries || ContinuousClock.now >= end
                    : failures >= Self.maximumTries || ContinuousClock.now >= deadline
                guard !Task.isCancelled, ContinuousClock.now < batch.leaseEnd else {
                    logger.warning("Left a batch to the end of its lease", metadata: ["error": "\(error)"])
                    tally.lost += batch.rows.count
                    return
                }
                guard !isLast else {
                    if error.mayBeOfOneRow { return await isolate(batch, error) }
                    return refuse(batch, error, isAlone: batch.rows.count == 1)
                }
                logger.warning("A batch has to be tried again", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.backoff.pause(afterFailures: failures))
            } catch let error as UnreadableCatalog {
                // No row is to blame: a newer release's catalog needs a newer worker.
                return refuse(batch, PostgresError(.unsupported, error.description), isAlone: true)
            } catch {
                return await isolate(batch, error)
            }
        }
    }

    /// PostgreSQL refused the batch: finds the refused rows by halving, and settles the others.
    private mutating func isolate(_ batch: PreparedBatch, _ error: any Error) async {
        guard batch.rows.count > 1 else { return refuse(batch, error, isAlone: true) }
        let passing = (error as? PostgresError).flatMap { $0.isTransient ? $0 : nil }
        let (first, second) = batch.halves()
        for half in [first, second] {
            // Once the time is up, rows not yet tried alone are put off with the rest.
            if let passing, ContinuousClock.now >= deadline {
                refuse(half, passing, isAlone: false)
            } else {
                await settle(half, tries: Self.triesApart)
            }
        }
    }

    /// Tries rows that PostgreSQL refused before for a fault of its own. Mostly all of them are taken or none, and there may be as
    /// many as came for hours: after a few failures the rest is put off untried. Which ones come first is drawn each time.
    private mutating func probe(_ batch: PreparedBatch) async {
        var parts = batch.rows.isEmpty ? [] : [batch.only(batch.rows.shuffled())]
        var last: (any Error)?
        while let part = parts.popLast() {
            if probes == 0, let last {
                refuse(part, last, isAlone: false)
                continue
            }
            do {
                try await take(part, within: max((deadline - .now) / 3, Self.leastShare))
            } catch  where !((error as? PostgresError)?.isTransient ?? false) && RefusalBlame(error) == .database {
                last = error
                probes -= 1
                if part.rows.count == 1 {
                    refuse(part, error, isAlone: true)
                } else {
                    let (first, second) = part.halves()
                    parts += [second, first]
                }
            } catch {
                await settle(part, tries: Self.triesApart)
            }
        }
    }

    private mutating func take(_ batch: PreparedBatch, within limit: Duration) async throws {
        do {
            let done = try await commit(batch, limit)
            tally += done
            if firstRefusal != nil { since += done }
        } catch {
            firstRefusal = firstRefusal ?? .now
            throw error
        }
    }

    private mutating func refuse(_ batch: PreparedBatch, _ error: any Error, isAlone: Bool) {
        refused += batch.rows.map { RefusedRow($0, error, isAlone: isAlone) }
    }

    /// After how many transient failures in a row a batch is put off, where no row of it can be to blame.
    private static let maximumTries = 12
    /// After how many its halves are tried alone, where one of its rows may be to blame: enough for a deadlock.
    private static let triesTogether = 5
    /// Likewise, for a part of a batch.
    private static let triesApart = 2
    /// The least time for a transaction, however little is left; less of a short lease.
    private static let leastShare = Duration.seconds(1)
    /// How many failures are worth while among rows that were refused before.
    private static let probes = 8
    private static let backoff = RetrySchedule.doubling(from: .milliseconds(50), upTo: .seconds(2))
}

extension PreparedBatch.Row {
    /// Whether it was put off for a refusal of PostgreSQL's that was not its own fault.
    fileprivate var wasRefused: Bool {
        guard claimed.attempts == 1, let reason = claimed.lastReason.flatMap(ReasonCode.init(rawValue:)),
            case .sqlState(let state) = reason
        else { return false }
        return !state.isTransient
    }
}

extension PostgresError {
    /// Whether one row's statement may have caused it, rather than the connection or the server as a whole. A
    /// statement that took too long may have waited for one row's lock.
    fileprivate var mayBeOfOneRow: Bool {
        switch kind {
        case .server(let state): !state.isServerFault
        case .timeout: true
        case .connection, .cancelled, .decoding, .configuration, .unconfirmed, .unsupported: false
        }
    }
}
