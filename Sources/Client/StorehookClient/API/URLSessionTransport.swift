public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Requests over URLSession.
///
/// It follows no redirect: the account API has none, and a request carries the app's token. The answer is then the redirect itself.
public struct URLSessionTransport: HTTPTransport {
    #if canImport(FoundationNetworking)
        private let carrier: DelegatedSession

        /// - Parameter session: whose timeouts and caches count; the shared one by default.
        public init(session: URLSession = .shared) { carrier = DelegatedSession(session.configuration) }
    #else
        private let session: URLSession

        /// - Parameter session: whose timeouts and caches count; the shared one by default.
        public init(session: URLSession = .shared) { self.session = session }
    #endif

    /// Sends a request and waits for the whole answer.
    /// - Throws: `URLError`.
    public func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        #if canImport(FoundationNetworking)
            let (data, response) = try await carrier.data(for: request)
        #else
            let (data, response) = try await session.data(for: request, delegate: RedirectRefusal())
        #endif
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (data, response)
    }
}

#if !canImport(FoundationNetworking)
    /// Keeps a request at the address that it was made for.
    private final class RedirectRefusal: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
        ) { completionHandler(nil) }
    }
#endif
