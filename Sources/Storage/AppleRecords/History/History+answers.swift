import AppStorePayloads
package import Base
import Crypto
package import EvidenceStore
import Postgres
import Subscriptions

extension History {
    /// Stores what Apple's servers answered, but for what is recorded already, and what says the same as the latest record of
    /// the same transaction or renewal info: Apple signs what it answers anew each time, so that the bytes never repeat.
    ///
    /// What waits still for a worker may be stored once more.
    /// - Parameters:
    ///   - evidence: compact JWS of transactions and renewal infos, verified.
    ///   - scope: their app and environment; renewal infos do not name it.
    /// - Returns: how many were stored.
    package func store(answered evidence: [Evidence], of scope: AppEnvironment) async throws -> Int {
        let evidence = try await news(among: evidence, of: scope)
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

    /// Stores notifications that Apple lists, but for those that are in a place already.
    /// - Returns: how many were stored.
    /// - Throws: ``TooMuchPending``, or `PostgresError`.
    package func store(listed letters: [HistoryPage.Letter]) async throws -> Int {
        let missing = try await missing(letters)
        guard !missing.isEmpty else { return 0 }
        try await outbox.store(missing.map { Evidence(.notification, from: .history, $0.bytes) })
        return missing.count
    }
}

extension History {
    /// Those of Apple's answers that say something else than the latest record that is held.
    /// - Throws: `PostgresError`.
    package func news(among evidence: [Evidence], of scope: AppEnvironment) async throws -> [Evidence] {
        let saying = evidence.map { Saying($0) }
        let ids = { (kind: EvidenceKind) in saying.compactMap { $0?.kind == kind ? $0?.id : nil } }
        let held = try await pool.query(
            PostgresQuery(
                "history.held_records",
                """
                select true as is_transaction, t.transaction_id as id, t.payload
                  from unnest(\(ids(.transaction))) as w (id)
                  join storehook.transactions t on t.transaction_id = w.id
                 where t.bundle_id = \(scope.bundleID) and t.environment = \(scope.environment)
                   -- What Apple signs is news where the same was only said.
                   and t.is_unsigned is null
                union all
                select false, r.original_transaction_id, r.payload
                  from unnest(\(ids(.renewal))) as w (id)
                  join storehook.renewals r on r.original_transaction_id = w.id
                 where r.bundle_id = \(scope.bundleID) and r.environment = \(scope.environment)
                   and r.is_unsigned is null
                """))
        let known = try Set(
            held.compactMap { row in
                Saying(
                    try row.decode("is_transaction") ? .transaction : .renewal,
                    try row.decode("payload", as: PostgresJSON.self).bytes)
            })
        return zip(evidence, saying).filter { $1.map { !known.contains($0) } ?? true }.map(\.0)
    }
}

/// What a record says, whenever it was signed.
private struct Saying: Hashable {
    var kind: EvidenceKind
    /// The transaction, or the original transaction of renewal info.
    var id: String
    /// The members as JSON texts, but for the date of the signature.
    var members: [String: [UInt8]]

    init?(_ evidence: Evidence) {
        guard let json = RecordDigest.json(evidence.bytes) else { return nil }
        self.init(evidence.kind, json)
    }

    init?(_ kind: EvidenceKind, _ json: [UInt8]) {
        guard let object = try? JSONDocument(json).object else { return nil }
        let id =
            switch kind {
            case .transaction: object.string("transactionId")
            case .renewal: object.string("originalTransactionId")
            default: nil as String?
            }
        guard let id else { return nil }
        self.kind = kind
        self.id = id
        members = object.members(except: ["signedDate"])
    }
}

/// The key by which a record that came by itself is known: the SHA-256 of the JSON that was signed.
private enum RecordDigest {
    static func of(_ jws: [UInt8]) -> [UInt8]? { json(jws).map { Array(SHA256.hash(data: $0)) } }

    static func json(_ jws: [UInt8]) -> [UInt8]? {
        let segments = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return segments.count == 3 ? Base64.url.decode(Array(segments[1])) : nil
    }
}
