import Postgres

extension Outbox {
    /// Keeps the headers of these JWS, so that receivers need not store them again each time.
    ///
    /// Takes only JWS whose signature and chain have been verified: the signature covers the header, so only Apple can
    /// put one in here, however much is posted. It costs nothing for known headers. Headers that were known before a
    /// new connection was made are kept again: the database behind it may lack them.
    /// - Parameter verified: compact JWS.
    /// - Throws: `PostgresError`. Nothing is lost by it; one that is transient lets the headers be tried again next time.
    package func keepHeaders(of verified: [[UInt8]]) async throws {
        headers.renew(pool.generation)
        let new = headers.offering(verified)
        guard !new.isEmpty else { return }
        do {
            // Sorted: two workers with the same new headers must not wait for each other in a cycle.
            let sorted = new.sorted { $0.lexicographicallyPrecedes($1) }
            headers.learn(try await pool.query(.keep(sorted)).map { try SignatureHeader($0) })
        } catch let error as PostgresError where error.isTransient {
            headers.withdraw(new)
            throw error
        }
    }

    /// Reads which headers have been kept since the last time, so that ``store(_:from:)`` can do without them.
    /// - Throws: `PostgresError`; then storing goes on with those known so far.
    package func learnHeaders() async throws {
        // The oldest first, as they are learned: the newest of all is searched for first.
        headers.learn(try await pool.query(.newest(besides: headers.recent)).reversed().map { try SignatureHeader($0) })
    }
}

extension PostgresQuery {
    /// Returns the rows in the table afterwards: none where it is full.
    fileprivate static func keep(_ headers: [[UInt8]]) -> PostgresQuery {
        PostgresQuery(
            "outbox.keep_headers",
            """
            with kept as (
                insert into storehook.signature_headers (header)
                select header from unnest(\(headers)) as seen (header)
                 where (select count(*) from storehook.signature_headers) < \(SignatureHeaders.maximumCount)
                    on conflict do nothing
                returning digest, header
            )
            select digest, header from kept
            union
            select digest, header from storehook.signature_headers
             where digest in (select sha256(header) from unnest(\(headers)) as seen (header))
            """)
    }

    fileprivate static func newest(besides known: [SignatureHeader]) -> PostgresQuery {
        PostgresQuery(
            "outbox.learn_headers",
            """
            select digest, header
              from (select digest, header, first_seen from storehook.signature_headers
                     order by first_seen desc, digest limit \(SignatureHeaders.packable)) newest
             where digest <> all(\(known.map(\.digest)))
             order by first_seen desc, digest
            """)
    }
}
