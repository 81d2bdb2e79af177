import AppStorePayloads
package import Outbox
import Postgres
import Queue
import Subscriptions

extension History {
    /// Stores a receipt, verifyReceipt's answer to it, and what that answer says and has not said before, in one commit.
    ///
    /// Apps hand in the same receipt each time they start. What the last stored answer said of the same thing is not stored again, and
    /// neither is what says something of a record that Apple signed: it would give way to that, whatever their dates.
    /// - Parameters:
    ///   - evidence: the receipt and the answer, which are stored in any case.
    ///   - words: what the answer says.
    ///   - scope: whose they are.
    /// - Returns: the rows of `evidence`, in its order, and how many of `words` were stored.
    package func store(
        receipt evidence: [Evidence], saying words: [UnsignedWord], of scope: HistoryScope
    ) async throws -> (ids: [Int64], words: Int) {
        let stored: (ids: [Int64], words: Int) = try await pool.withTransaction(
            TransactionOptions(isDurable: true, name: "history.receipt")
        ) { session in
            let new: Set<Int> =
                try words.isEmpty ? [] : Set(session.query(.news(among: words, of: scope)).map(Self.place))
            let ids = try outbox.store(
                evidence + words.enumerated().filter { new.contains($0.offset) }.map(\.element.evidence), session)
            return (Array(ids.prefix(evidence.count)), ids.count - evidence.count)
        }
        await outbox.queue.announceNow()
        return stored
    }

    private static func place(_ row: PostgresRow) throws -> Int { try row.decode(0) }
}

extension PostgresQuery {
    /// Notes what was said last; answers the places of those that say something new.
    fileprivate static func news(among words: [UnsignedWord], of scope: HistoryScope) -> PostgresQuery {
        let dates = words.map {
            PostgresTimestamp(millisecondsSince1970: $0.answeredAt.millisecondsSince1970)
        }
        return PostgresQuery(
            "history.unsigned_news",
            """
            with said as materialized (
                select * from unnest(\(words.map(\.evidence.kind.rawValue)), \(words.map(\.id)), \(words.map(\.saying)),
                                     \(dates))
                    with ordinality as said (kind, id, saying, answered_at, place)
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
                          and r.is_unsigned is null)
                 -- In one order everywhere, so that two answers never wait for each other in a ring.
                 order by kind, id
                    on conflict (id, bundle_id, environment, kind) do update
                   -- An answer that comes late is told, and what was said after it stays the last word.
                   set saying = case when excluded.answered_at >= known.answered_at then excluded.saying
                                     else known.saying end,
                       answered_at = greatest(excluded.answered_at, known.answered_at)
                 where excluded.saying <> known.saying
                returning kind, id
            )
            select said.place - 1 from said join noted using (kind, id)
            """)
    }
}
