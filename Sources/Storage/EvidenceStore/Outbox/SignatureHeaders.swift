package import Postgres
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The headers that this process has seen in table `storehook.signature_headers`: one object for each
/// process and database.
///
/// Rows of that table are never changed and never deleted, so what was read holds for as long as the database is the
/// same one. A new connection may lead to another database: to a standby that took over, or to a restored backup. So
/// each new connection makes this forget (see ``renew(_:)``). An unknown header costs nothing but space: its
/// notification is stored as it was posted.
package final class SignatureHeaders: Sendable {
    /// Headers that packing looks for: more than Apple uses at a time, and few enough to search through.
    static let packable = 64
    /// How many rows the table takes. Apple uses a handful of headers a year; if it ever wrote a new one for each
    /// notification, keeping them would cost as much as it saves.
    static let maximumCount = 1000

    private struct State {
        var texts: [[UInt8]: [UInt8]] = [:]
        /// The last ones learned, the newest first.
        var recent: [SignatureHeader] = []
        /// Written to the table by this process, whether or not that succeeded.
        var offered: [[UInt8]] = []
        /// Read from the table once, and to be written again: it may be another database by now.
        var former: [[UInt8]] = []
        /// The generation of the pool's connections when this was learned.
        var generation: UInt64?

        mutating func forget() {
            let known = recent.map(\.text)
            former = Array((known + former.filter { !known.contains($0) }).prefix(SignatureHeaders.packable))
            texts = [:]
            recent = []
            offered = []
        }
    }

    private let state = Mutex(State())

    /// None are known.
    package init() {}

    /// The headers that packing may name, the newest first: all of them are in the table.
    var recent: [SignatureHeader] { state.withLock(\.recent) }

    /// Forgets what is known if connections have been made since it was learned.
    /// - Returns: whether anything was forgotten that packing could name.
    @discardableResult
    func renew(_ generation: UInt64) -> Bool {
        state.withLock { state in
            guard state.generation != generation else { return false }
            defer { state.generation = generation }
            guard state.generation != nil else { return false }
            let hadAny = !state.recent.isEmpty
            state.forget()
            return hadAny
        }
    }

    /// Forgets all known headers: the database turned out to lack one.
    func forget() { state.withLock { $0.forget() } }

    func learn(_ headers: [SignatureHeader]) {
        state.withLock { state in
            for header in headers where state.texts[header.digest] == nil {
                state.texts[header.digest] = header.text
                state.recent = Array(([header] + state.recent).prefix(Self.packable))
            }
        }
    }

    /// Those headers of these JWS that are neither known nor offered yet, and those that were known from what may be
    /// another database; they count as offered from now on.
    func offering(_ texts: [[UInt8]]) -> [[UInt8]] {
        state.withLock { state in
            var new = state.former.filter { former in !state.recent.contains { $0.text == former } }
            state.former = []
            state.offered = Array((new + state.offered).prefix(Self.packable))
            for text in texts {
                let header = text.withUnsafeBufferPointer { bytes -> [UInt8]? in
                    let isOld =
                        state.recent.contains { $0.text.isHeader(of: bytes) }
                        || state.offered.contains { $0.isHeader(of: bytes) }
                    guard !isOld, let end = bytes.firstIndex(of: UInt8(ascii: ".")), end > 0,
                        end <= SignatureHeader.maximumSize
                    else { return nil }
                    return Array(bytes[..<end])
                }
                guard let header else { continue }
                new.append(header)
                state.offered = Array(([header] + state.offered).prefix(Self.packable))
            }
            return new
        }
    }

    /// Lets headers be offered again.
    func withdraw(_ headers: [[UInt8]]) {
        state.withLock { state in
            state.offered.removeAll { headers.contains($0) }
            state.former = Array((headers + state.former).prefix(Self.packable))
        }
    }

    /// The posted bytes of each of these; reads headers that are not known here yet from the table.
    /// - Returns: for each row its bytes or why they cannot be read; nil where nothing is stored.
    /// - Throws: `PostgresError` where headers have to be read and that fails.
    package func open(
        _ stored: [StoredBody?], _ session: borrowing PostgresSession
    ) throws -> [OpenedEvidence?] {
        let missing = unknown(stored)
        if !missing.isEmpty { learn(try session.query(.headers(missing)).map { try SignatureHeader($0) }) }
        return opened(stored)
    }

    /// As ``open(_:_:)-(_,PostgresSession)``, outside of a transaction.
    package func open(
        _ stored: [StoredBody?], _ pool: PostgresPool
    ) async throws -> [OpenedEvidence?] {
        renew(pool.generation)
        let missing = unknown(stored)
        if !missing.isEmpty { learn(try await pool.query(.headers(missing)).map { try SignatureHeader($0) }) }
        return opened(stored)
    }

    private func unknown(_ stored: [StoredBody?]) -> [[UInt8]] {
        let texts = state.withLock(\.texts)
        return Array(Set(stored.flatMap { $0?.digests ?? [] }.filter { texts[$0] == nil }))
    }

    private func opened(_ stored: [StoredBody?]) -> [OpenedEvidence?] {
        let texts = state.withLock(\.texts)
        return stored.map { stored in stored.map { $0.opened { texts[$0] } } }
    }
}

extension SignatureHeader {
    init(_ row: PostgresRow) throws {
        self.init(digest: try row.decode("digest"), text: try row.decode("header"))
    }
}

extension [UInt8] {
    /// Whether this is the part before the first dot; a header itself has none.
    fileprivate func isHeader(of jws: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count < jws.count, jws[count] == UInt8(ascii: ".") else { return false }
        return withUnsafeBytes { bytes in
            guard let mine = bytes.baseAddress, let theirs = jws.baseAddress else { return false }
            return memcmp(mine, theirs, bytes.count) == 0
        }
    }
}

extension PostgresQuery {
    fileprivate static func headers(_ digests: [[UInt8]]) -> PostgresQuery {
        PostgresQuery(
            "outbox.headers",
            "select digest, header from storehook.signature_headers where digest = any(\(digests))")
    }
}
