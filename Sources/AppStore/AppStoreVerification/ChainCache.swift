import Base
import Synchronization

/// Remembers valid chains: validating one costs ten times as much as checking a signature, and Apple uses a handful of
/// chains a year.
///
/// Two keys lead to a chain. The SHA-256 of its three certificates identifies it. The SHA-256 of the header segment is
/// a short cut that costs nothing, since checking the signature begins with hashing the header. Only the one header
/// that Apple writes for a chain becomes a short cut: anyone can write the genuine certificates into endlessly many
/// headers, and those must neither fill the cache nor cost a validation each.
///
/// Only valid chains enter, and only a holder of a trusted root's key can make one, so no sender can evict Apple's.
public final class ChainCache: Sendable {
    /// What the cache has done so far.
    public struct Statistics: Sendable, Hashable {
        /// Lookups that found a chain.
        public var hits: UInt64
        /// Lookups that did not.
        public var misses: UInt64
        /// Chains that were evicted.
        public var evictions: UInt64
        /// Chains held now.
        public var count: Int
        /// Headers that are short cuts now: at most one per chain.
        public var shortCuts: Int

        /// Statistics of these counts.
        public init(
            hits: UInt64 = 0, misses: UInt64 = 0, evictions: UInt64 = 0, count: Int = 0, shortCuts: Int = 0
        ) {
            self.hits = hits
            self.misses = misses
            self.evictions = evictions
            self.count = count
            self.shortCuts = shortCuts
        }
    }

    private struct Entry {
        let chain: CertificateChain
        var header: Fingerprint?
        var lastUse: UInt64
    }

    private struct State {
        var entries: [Fingerprint: Entry] = [:]
        var headers: [Fingerprint: Fingerprint] = [:]
        var clock: UInt64 = 0
        var statistics = Statistics()

        mutating func use(_ certificates: Fingerprint) -> CertificateChain? {
            clock += 1
            entries[certificates]?.lastUse = clock
            return entries[certificates]?.chain
        }
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// Creates an empty cache for at most so many chains, at least one.
    public init(capacity: Int = 32) { self.capacity = max(1, capacity) }

    /// What the cache has done so far.
    public var statistics: Statistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.count = state.entries.count
            statistics.shortCuts = state.headers.count
            return statistics
        }
    }

    /// The chain behind a header; counts as a lookup only where it finds one.
    func chain(header: Fingerprint) -> CertificateChain? {
        state.withLock { state in
            guard let certificates = state.headers[header], let chain = state.use(certificates) else { return nil }
            state.statistics.hits += 1
            return chain
        }
    }

    /// The chain of these certificates.
    func chain(certificates: Fingerprint, header: Fingerprint?) -> CertificateChain? {
        state.withLock { state in
            guard let chain = state.use(certificates) else {
                state.statistics.misses += 1
                return nil
            }
            state.statistics.hits += 1
            if let header {
                state.entries[certificates]?.header = header
                state.headers[header] = certificates
            }
            return chain
        }
    }

    /// Keeps a chain; a full cache evicts the one unused for longest.
    func insert(_ chain: CertificateChain, certificates: Fingerprint, header: Fingerprint?) {
        state.withLock { state in
            if state.entries[certificates] == nil, state.entries.count >= capacity,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.entries[oldest.key] = nil
                if let header = oldest.value.header { state.headers[header] = nil }
                state.statistics.evictions += 1
            }
            state.clock += 1
            state.entries[certificates] = Entry(chain: chain, header: header, lastUse: state.clock)
            if let header { state.headers[header] = certificates }
        }
    }
}
