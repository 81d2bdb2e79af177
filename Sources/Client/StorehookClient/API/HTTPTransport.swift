public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Carries requests to a server: URLSession in an app, anything else in a test.
public protocol HTTPTransport: Sendable {
    /// Sends a request and waits for the whole answer.
    /// - Returns: the body and the head of the answer, whatever its status.
    /// - Throws: where no answer came, such as `URLError`.
    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse)
}
