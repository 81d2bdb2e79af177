public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Requests over URLSession.
public struct URLSessionTransport: HTTPTransport {
    private let session: URLSession

    /// - Parameter session: whose timeouts and caches count; the shared one by default.
    public init(session: URLSession = .shared) { self.session = session }

    /// Sends a request and waits for the whole answer.
    /// - Throws: `URLError`.
    public func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let (data, response) = try await session.data(for: request)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (data, response)
    }
}
