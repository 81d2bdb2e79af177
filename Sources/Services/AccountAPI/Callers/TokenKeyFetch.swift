import AsyncHTTPClient
import Base
import NIOCore
import NIOHTTP1

/// Fetches a JWK set, within a time and up to a length, whatever the other side does. Follows no redirect: the operator has
/// said whom to trust.
enum TokenKeyFetch {
    /// Until the whole answer is there.
    static let patience = TimeAmount.seconds(5)
    /// The most bytes that are read.
    static let most = 1 << 20

    static func bytes(of url: String) async throws(TokenKeySet.Fault) -> [UInt8] {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = patience
        configuration.connectionPool.retryConnectionEstablishment = false
        // Once in minutes: a connection that is kept would be found broken each time.
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<[UInt8], TokenKeySet.Fault>
        do {
            result = .success(try await body(of: url, client))
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        return try result.get()
    }

    private static func body(of url: String, _ client: HTTPClient) async throws(TokenKeySet.Fault) -> [UInt8] {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/jwk-set+json, application/json")
        request.headers.add(name: "User-Agent", value: Release.userAgent)
        let sent = request
        do {
            // Over the body, too: the library's deadline ends with the head.
            return try await withThrowingTaskGroup { group in
                group.addTask {
                    let response = try await client.execute(sent, deadline: .now() + patience)
                    guard response.status == .ok else {
                        throw TokenKeySet.Fault(description: "was answered with status \(response.status.code)")
                    }
                    return Array(try await response.body.collect(upTo: most).readableBytesView)
                }
                group.addTask {
                    try await Task.sleep(for: .nanoseconds(patience.nanoseconds))
                    throw TokenKeySet.Fault(description: "did not answer in time")
                }
                defer { group.cancelAll() }
                guard let bytes = try await group.next() else {
                    throw TokenKeySet.Fault(description: "did not answer")
                }
                return bytes
            }
        } catch let fault as TokenKeySet.Fault {
            throw fault
        } catch is NIOTooManyBytesError {
            throw TokenKeySet.Fault(description: "answers with more than 1 MiB")
        } catch {
            throw TokenKeySet.Fault(description: "cannot be reached")
        }
    }
}
