import AppStorePayloads
import Crypto
package import Outbox
import Postgres
import Subscriptions

extension History {
    /// Stores what Apple's servers answered, but for what is recorded already, byte for byte.
    ///
    /// Apple signs what it answers anew each time; what waits still is stored once more, and its second copy ends as a
    /// duplicate.
    /// - Parameter evidence: compact JWS of transactions and renewal infos, verified.
    /// - Returns: how many were stored.
    package func store(answered evidence: [Evidence]) async throws -> Int {
        let digests = evidence.map { RecordDigest.of($0.bytes) }
        let known = try await Set(
            pool.query(
                PostgresQuery(
                    "history.known_records",
                    """
                    select w.digest
                      from unnest(\(digests.compactMap(\.self))) as w (digest)
                     where (select true from storehook.records r where r.digest = w.digest)
                    """)
            ).map { try $0.decode(0, as: [UInt8].self) })
        let new = zip(evidence, digests).filter { $1.map { !known.contains($0) } ?? true }.map(\.0)
        try await outbox.store(new)
        return new.count
    }
}

/// The key by which a record that came by itself is known: the SHA-256 of the JSON that was signed.
private enum RecordDigest {
    static func of(_ jws: [UInt8]) -> [UInt8]? {
        let segments = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3, let json = Base64.url.decode(Array(segments[1])) else { return nil }
        return Array(SHA256.hash(data: json))
    }
}
