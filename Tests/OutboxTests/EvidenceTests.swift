import Crypto
import EvidenceStore
import Postgres
import Simulation
import Subscriptions
import Testing

@Suite("Storing evidence")
struct EvidenceTests {
    @Test("of every kind from every source keeps what it is, which way it came, and every byte of it")
    func everyKind() async throws {
        try await withQueue { queue in
            let all = EvidenceKind.allCases.flatMap { kind in
                EvidenceSource.allCases.map { Evidence(kind, from: $0, Array("\(kind) \($0)".utf8)) }
            }
            let ids = try await queue.outbox.store(all)
            #expect(ids == ids.sorted() && ids.count == all.count)
            let claimed = try await queue.outbox.claim(100, for: .fresh()).rows
            #expect(claimed.map(\.id) == ids)
            for (row, stored) in zip(claimed, all) {
                #expect(row.kind == stored.kind && row.source == stored.source)
                // A receipt is not read along with a batch.
                let digest = Array(SHA256.hash(data: stored.bytes))
                #expect(row.body == (stored.kind == .receipt ? digest : stored.bytes))
                let body = try await queue.outbox.body(of: row.id, receivedAt: row.receivedAt)
                #expect(body == .success(stored.bytes))
            }
            // What Apple posts is stored by a statement of its own, and is a notification from the webhook.
            try await queue.outbox.store([[1, 2, 3]])
            let posted = try #require(try await queue.outbox.claim(1, for: .fresh()).rows.first)
            #expect(posted.kind == .notification && posted.source == .webhook && posted.body == [1, 2, 3])
        }
    }

    @Test("takes a receipt of 4 MiB and nothing longer, and of all else 256 KiB")
    func sizes() async throws {
        try await withQueue { queue in
            for kind in EvidenceKind.allCases {
                let largest = [UInt8](repeating: 65, count: kind.maximumSize)
                let id = try #require(try await queue.outbox.store([Evidence(kind, from: .client, largest)]).first)
                let received = try await queue.value(
                    "select received_at from storehook.outbox where id = \(id)", as: PostgresTimestamp.self)
                #expect(try await queue.outbox.body(of: id, receivedAt: received) == .success(largest))
                let refusal = await #expect(throws: PostgresError.self) {
                    try await queue.outbox.store([Evidence(kind, from: .client, largest + [65])])
                }
                #expect(refusal?.sqlState == "23514", "\(kind)")
            }
            #expect(EvidenceKind.receipt.maximumSize == 4 << 20)
            #expect(try await queue.outbox.conservation().received == Int64(EvidenceKind.allCases.count))
        }
    }

    @Test("in a transaction of the caller's is undone with it")
    func inTransaction() async throws {
        struct Undone: Error {}
        try await withQueue { queue in
            let outbox = queue.outbox
            let evidence = [Evidence(.transaction, from: .client, [1])]
            await #expect(throws: Undone.self) {
                try await queue.pool.withTransaction { session in
                    #expect(try outbox.store(evidence, session).count == 1)
                    throw Undone()
                }
            }
            #expect(try await queue.outbox.conservation().received == 0)
            let ids = try await queue.pool.withTransaction { try outbox.store(evidence, $0) }
            #expect(try await queue.outbox.claim(9, for: .fresh()).rows.map(\.id) == ids)
        }
    }

    @Test("does without a signature's header where that is known, for a record by itself too")
    func packed() async throws {
        let authority = try await Signed.authority.value
        let jws = Array(authority.sign(Array(#"{"transactionId":"1"}"#.utf8)).utf8)
        try await withQueue { queue in
            try await queue.outbox.keepHeaders(of: [jws])
            let ids = try await queue.outbox.store([Evidence(.transaction, from: .api, jws)])
            let size: Int32 = try await queue.value("select octet_length(body) from storehook.outbox")
            #expect(Int(size) < jws.count / 5)
            let row = try #require(try await queue.outbox.claim(1, for: .fresh()).rows.first)
            #expect(row.id == ids.first && row.kind == .transaction && row.source == .api && row.body == jws)
        }
    }

    @Test("of a kind that this release does not know is not taken for a notification")
    func unknown() async throws {
        try await withQueue { queue in
            try await queue.outbox.store([Evidence(.transaction, from: .api, [1])])
            try await queue.pool.withTransaction { session in
                // As a later release may have it.
                try session.executeScript(
                    """
                    alter table storehook.outbox drop constraint outbox_kind_check;
                    do $$ declare part regclass; begin
                        for part in select inhrelid::regclass from pg_inherits where inhparent = 'storehook.outbox'::regclass loop
                            execute format('alter table %s drop constraint if exists outbox_kind_check', part);
                        end loop;
                    end $$;
                    update storehook.outbox set kind = 9;
                    """)
            }
            let row = try #require(try await queue.outbox.claim(1, for: .fresh()).rows.first)
            #expect(row.body == nil && row.unreadable != nil)
        }
    }
}
