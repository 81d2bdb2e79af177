package import Postgres

extension Outbox {
    /// Stores notifications and queues them, in one commit: when this returns they will be processed, whatever dies.
    ///
    /// They are stored without the headers that ``learnHeaders()`` has found; see ``PackedBody``. The statement checks
    /// that each of these headers is there: what this process remembers may be of a database that a standby or a
    /// backup has replaced. If one is missing, the notifications are stored as they came.
    /// - Parameters:
    ///   - bodies: the compact JWS of each, byte for byte; at most ``maximumBodySize`` bytes each.
    ///   - senders: the address that posted each; nil where there is none to count.
    /// - Throws: `PostgresError`; then none of them counts as stored (some failures leave it open, `unconfirmed` above
    ///   all: see `TransactionOptions.isDurable`).
    package func store(_ bodies: [[UInt8]], from senders: [String?] = []) async throws {
        guard !bodies.isEmpty else { return }
        if headers.renew(pool.generation) { try? await learnHeaders() }
        if try await !storeIfReadable(packed(bodies), from: senders) {
            headers.forget()
            _ = try await pool.query(.store(bodies.map(StoredBody.init(verbatim:)), from: senders), durably: true)
        }
        queue.announce()
    }

    /// - Returns: whether they are stored; not if a header that they name is not in the database.
    private func storeIfReadable(_ bodies: [StoredBody], from senders: [String?]) async throws -> Bool {
        do {
            return try await pool.query(.store(bodies, from: senders), durably: true).one().decode(0)
        } catch let error as PostgresError where error.sqlState?.isCatalogueFault == true {
            // The headers' table may be missing, or the right to read it.
            if bodies.allSatisfy(\.digests.isEmpty) { throw error }
            return false
        }
    }

    /// Bodies as they would be packed now.
    package func packed(_ bodies: [[UInt8]]) -> [StoredBody] {
        let known = headers.recent
        return bodies.map { StoredBody(packing: $0, knowing: known) }
    }
}

extension PostgresQuery {
    /// The one statement of ``Outbox/store(_:from:)``. It is a function of the schema, so that sessions keep its
    /// plans. Its parameters are the bodies' packings, the bodies, their senders (null where there are fewer), and the
    /// digests of the headers that they name. It returns whether all these headers exist; if not, it has done nothing.
    package static func store(_ bodies: [StoredBody], from senders: [String?] = []) -> PostgresQuery {
        let (packings, bytes) = (bodies.map { Int16($0.packing) }, bodies.map(\.bytes))
        let digests = Array(Set(bodies.flatMap(\.digests)))
        return PostgresQuery(
            "outbox.store", "select storehook.store_posted(\(packings), \(bytes), \(senders), \(digests))")
    }
}
