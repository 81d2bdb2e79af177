import AppStoreVerification
import AsyncHTTPClient
import Logging
import NIOCore
import NIOHTTP1
import Pipeline

/// Asks OCSP responders over HTTP (RFC 6960 appendix A).
///
/// Any http address is asked, loopback and private networks included: it was read from a certificate under a root that the
/// operator trusts. Redirects, which anybody on the way could write, are not followed.
struct OCSPRequester: Sendable {
    private let client: HTTPClient

    /// The longest answer read, in bytes. Apple's are under 2 kB.
    private static let longestAnswer = 64 * 1024

    init() {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// A checker that asks by this requester.
    func checker(for cache: RevocationCache, logger: Logger) -> RevocationChecker {
        RevocationChecker(cache: cache, clock: WallClock.now, logger: logger, ask: ask)
    }

    /// For a command that runs once: has `look` run into what it wants to know about revocation, and asks. What another
    /// chain signed a part of may want a second look.
    static func settle(
        _ cache: RevocationCache?, logger: Logger, _ look: () async throws -> Void
    ) async throws {
        guard let cache else { return }
        let requester = OCSPRequester()
        let checker = requester.checker(for: cache, logger: logger)
        do {
            for _ in 0..<2 {
                try await look()
                guard await checker.sendPendingRequests() else { break }
            }
            await requester.shutdown()
        } catch {
            await requester.shutdown()
            throw error
        }
    }

    /// Ends the client; afterwards nobody can be asked.
    func shutdown() async { try? await client.shutdown() }

    private struct NoAnswer: Error {}

    /// Whether anybody answers at an address, whatever it is that they say.
    @Sendable func reaches(_ address: String) async -> Bool {
        (try? await client.execute(HTTPClientRequest(url: address), timeout: .seconds(5))) != nil
    }

    /// Posts a request to a responder, and returns its answer.
    @Sendable func ask(_ question: [UInt8], _ responder: String) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: responder)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/ocsp-request")
        request.body = .bytes(ByteBuffer(bytes: question))
        let response = try await client.execute(request, timeout: .seconds(5))
        guard response.status == .ok else { throw NoAnswer() }
        return Array(try await response.body.collect(upTo: Self.longestAnswer).readableBytesView)
    }
}
