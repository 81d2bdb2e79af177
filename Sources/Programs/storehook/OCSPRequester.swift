import AppStoreVerification
import HTTPKit
import Logging
import Pipeline

/// Asks OCSP responders over HTTP (RFC 6960 appendix A).
///
/// Any http address is asked, loopback and private networks included: it was read from a certificate under a root that the
/// operator trusts.
struct OCSPRequester: Sendable {
    private let client = OutboundClient(limits: OutboundClient.Limits(total: .seconds(5)))

    /// The longest answer read, in bytes. Apple's are under 2 kB.
    private static let longestAnswer = 64 * 1024

    /// A checker that asks by this requester.
    func checker(for cache: RevocationCache, logger: Logger) -> RevocationChecker {
        RevocationChecker(cache: cache, clock: WallClock.now, logger: logger, ask: ask)
    }

    /// For a command that runs once: `look` collects its revocation requests, and they are sent. A part that another
    /// chain signed may need a second pass.
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

    /// Closes the client; no responder can be asked afterwards.
    func shutdown() async { await client.shutdown() }

    private struct NoAnswer: Error {}

    /// Whether anybody answers at an address, whatever it is that they say.
    @Sendable func reaches(_ address: String) async -> Bool {
        var request = OutboundRequest("GET", address)
        request.answerBody = .ignored(upTo: Self.longestAnswer)
        return (try? await client.send(request)) != nil
    }

    /// Posts a request to a responder, and returns its answer.
    @Sendable func ask(_ question: [UInt8], _ responder: String) async throws -> [UInt8] {
        var request = OutboundRequest(
            "POST", responder, headers: [("Content-Type", "application/ocsp-request")], body: question)
        request.answerBody = .whole(upTo: Self.longestAnswer)
        let answer = try await client.send(request)
        guard answer.status == 200 else { throw NoAnswer() }
        return answer.body
    }
}
