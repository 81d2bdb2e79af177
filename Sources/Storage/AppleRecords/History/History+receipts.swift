import AppStorePayloads
package import Base
package import EvidenceStore
package import Postgres
import Subscriptions

extension History {
    /// Stores a receipt, verifyReceipt's answer to it, and what that answer says and has not said before, in one commit.
    ///
    /// Apps hand in the same receipt each time they start. What the answer before said of the same thing is not stored again. Neither
    /// is what says something of a record that Apple signed: it would give way to that, whatever their dates. Nor is what a later
    /// answer has overtaken: what that said may have been no news, and then nothing would put it right.
    /// - Parameters:
    ///   - evidence: the receipt and the answer, which are stored in any case.
    ///   - identity: what the receipt is known by; see ``note(receipt:_:)``.
    ///   - words: what the answer says, of each thing once.
    ///   - scope: their app and environment.
    /// - Returns: the rows of `evidence`, in its order, and how many of `words` were stored.
    package func store(
        receipt evidence: [Evidence], knownBy identity: [UInt8], saying words: [UnsignedReceiptClaim],
        of scope: AppEnvironment
    ) async throws -> (ids: [Int64], words: Int) {
        let stored: (ids: [Int64], words: Int) = try await pool.withTransaction(
            TransactionOptions(isDurable: true, name: "history.receipt")
        ) { session in
            _ = try Self.note(receipt: identity, session)
            let news = try Self.news(among: words, of: scope, session).map(\.evidence)
            let ids = try outbox.store(evidence + news, session)
            return (Array(ids.prefix(evidence.count)), news.count)
        }
        await outbox.queue.announceNow()
        return stored
    }

    /// Notes that a receipt is kept, in the caller's transaction, which stores it where it is news.
    /// - Parameter identity: SHA-256 of the signed part alone: the rest could be encoded in another way.
    /// - Returns: whether it is news; of two at the same moment one is.
    package static func note(receipt identity: [UInt8], _ session: borrowing PostgresSession) throws -> Bool {
        try !session.query(
            PostgresQuery(
                "history.keep_receipt",
                """
                insert into storehook.kept_receipts (digest) values (\(identity)) on conflict do nothing
                returning digest
                """)
        ).isEmpty
    }

    /// Notes what is said, in the caller's transaction, which stores what is news; answers that.
    package static func news(
        among words: [UnsignedReceiptClaim], of scope: AppEnvironment, _ session: borrowing PostgresSession
    ) throws -> [UnsignedReceiptClaim] {
        guard !words.isEmpty else { return [] }
        var known: [Int: [UInt8]] = [:]
        for row in try session.query(.known(words, of: scope)) { known[try row.decode(0)] = try row.decode(1) }
        let noted = try session.query(.note(words, of: scope)).map { try $0.decode(0, as: Int.self) }
        return noted.sorted().filter { known[$0] != words[$0].saying }.map { words[$0] }
    }
}

extension PostgresQuery {
    /// What was said last of the same things, each with its place, and locks it.
    fileprivate static func known(_ words: [UnsignedReceiptClaim], of scope: AppEnvironment) -> PostgresQuery {
        PostgresQuery(
            "history.unsigned_known",
            """
            select said.place - 1, k.saying
              from unnest(\(words.map(\.evidence.kind.rawValue)), \(words.map(\.id)))
                   with ordinality as said (kind, id, place)
              join storehook.unsigned_words k
                   on k.id = said.id and k.kind = said.kind and k.bundle_id = \(scope.bundleID)
                  and k.environment = \(scope.environment)
             -- In one order everywhere, so that two answers never wait for each other in a ring.
             order by k.kind, k.id
               for update of k
            """)
    }

    /// Notes what is said where nothing later is known and Apple has not signed it, of a subscription's future that of
    /// its period; answers the places of what was noted.
    fileprivate static func note(_ words: [UnsignedReceiptClaim], of scope: AppEnvironment) -> PostgresQuery {
        let dates = words.map { PostgresTimestamp($0.answeredAt) }
        let ends = words.map { $0.periodEndsAt.map { PostgresTimestamp($0) } }
        return PostgresQuery(
            "history.unsigned_note",
            """
            with said as materialized (
                select * from unnest(\(words.map(\.evidence.kind.rawValue)), \(words.map(\.id)), \(words.map(\.saying)),
                                     \(dates), \(ends))
                    with ordinality as said (kind, id, saying, answered_at, ends_at, place)
            ), noted as (
                insert into storehook.unsigned_words as known (kind, id, bundle_id, environment, saying, answered_at)
                select kind, id, \(scope.bundleID), \(scope.environment), saying, answered_at
                  from said
                 where not exists (
                       select from storehook.transactions t
                        where said.kind = 'receipt_transaction' and t.transaction_id = said.id
                          and t.bundle_id = \(scope.bundleID) and t.environment = \(scope.environment)
                          and t.is_unsigned is null)
                   and not exists (
                       select from storehook.renewals r
                        where said.kind = 'receipt_renewal' and r.original_transaction_id = said.id
                          and r.bundle_id = \(scope.bundleID) and r.environment = \(scope.environment)
                          and r.is_unsigned is null
                          -- Of a later period than the signed word it is news: that period's was lost.
                          and not coalesce(r.renews_at < said.ends_at, false))
                 order by kind, id
                    on conflict (id, bundle_id, environment, kind) do update
                   set saying = excluded.saying, answered_at = excluded.answered_at
                 where excluded.answered_at > known.answered_at
                returning kind, id
            )
            select said.place - 1 from said join noted using (kind, id)
            """)
    }
}
