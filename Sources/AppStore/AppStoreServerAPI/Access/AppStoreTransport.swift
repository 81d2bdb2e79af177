/// One HTTP request to Apple.
public struct TransportRequest: Sendable {
    /// The method.
    public let method: AppleEndpoint.Method
    /// The whole address.
    public let url: String
    /// Goes into the header `Authorization`, and nowhere else; nil where a call has no token, as verifyReceipt.
    public let token: AccessToken?
    /// A JSON text; nil where there is none.
    public let body: [UInt8]?
}

/// Sends requests: the only I/O there is.
public protocol AppStoreTransport: Sendable {
    /// Sends a request once and reads its answer, within a time and up to a length of the transport's own. Redirects are answers.
    ///
    /// - Throws: ``TransportFault``, or `CancellationError`.
    func send(_ request: TransportRequest) async throws -> TransportAnswer
}

/// The clock that a client waits by.
public protocol AppStoreClock: Sendable {
    /// The present instant.
    func now() -> AppStoreClient.Instant
    /// Waits until an instant.
    ///
    /// - Throws: `CancellationError`.
    func wait(until instant: AppStoreClient.Instant) async throws
}
