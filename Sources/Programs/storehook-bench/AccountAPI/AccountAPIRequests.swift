import AppStorePayloads
import Foundation
import JWTKit
import Simulation
import Synchronization

/// Requests of one kind to the account API, prepared whole and asked in turn.
final class AccountAPIRequests: Sendable {
    private let requests: [[UInt8]]
    private let given = Atomic(0)

    init(_ requests: [[UInt8]]) { self.requests = requests }

    /// The next one; after the last the first again.
    func next() -> [UInt8] { requests[given.add(1, ordering: .relaxed).oldValue % requests.count] }

    /// The same path for one account after the other.
    static func get(_ path: String, tokens: [String]) -> AccountAPIRequests {
        AccountAPIRequests(
            tokens.map { Array("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \($0)\r\n\r\n".utf8) })
    }

    /// Purchases that are new to storehook, each handed in by its own account.
    static func purchases(_ tokens: [String], from lane: Int, by authority: SimulatedAuthority) -> AccountAPIRequests {
        let now = Milliseconds(Int64(Date().timeIntervalSince1970 * 1000))
        return AccountAPIRequests(
            tokens.enumerated().compactMap { number, token in
                var customer = SimulatedSubscriber(lane: lane + number, seed: UInt64(lane + number))
                customer.buy(.premiumMonthly, at: now - 3_600_000)
                guard let json = customer.takeNotifications().first?.transaction?.json else { return nil }
                let body = #"{"signedTransactionInfo":"\#(authority.sign(json))"}"#
                return Array(
                    """
                    POST /v1/subscriptions/verify HTTP/1.1\r
                    Host: 127.0.0.1\r
                    Authorization: Bearer \(token)\r
                    Content-Type: application/json\r
                    Content-Length: \(body.utf8.count)\r
                    \r
                    \(body)
                    """.utf8)
            })
    }
}

/// Signs tokens as an app's login would.
struct BenchTokens {
    static let issuer = "storehook-bench"
    private let keys = JWTKeyCollection()
    private let identifier: JWKIdentifier

    private struct Claims: JWTPayload {
        var sub: String
        var iss = BenchTokens.issuer
        var aud = BenchTokens.issuer
        var exp = ExpirationClaim(value: .now + 86_400)

        /// Never called: these are signed here, and checked by the account API.
        func verify(using algorithm: some JWTAlgorithm) async throws {}
    }

    /// With the key that `storehook demo token` has made.
    init(keyFile: URL) async throws {
        let pem = try String(contentsOf: keyFile, encoding: .utf8)
        identifier = "demo"
        await keys.add(ecdsa: try ES256PrivateKey(pem: pem), kid: identifier)
    }

    func sign(_ accounts: [String]) async throws -> [String] {
        var tokens: [String] = []
        for account in accounts { tokens.append(try await keys.sign(Claims(sub: account), kid: identifier)) }
        return tokens
    }
}
